"""httpx: a Client, with the retries of its transport as its options say; with tenacity around it, if they say so."""

import ssl
from collections.abc import Callable

import httpx
from lines import Lost, Operation, Outcome, arguments, response, serve

url, ca, options = arguments()
context = ssl.create_default_context(cafile=ca) if url.startswith("https") else True
client = httpx.Client(
    timeout=httpx.Timeout(options["read_ms"] / 1000, connect=options["connect_ms"] / 1000),
    transport=httpx.HTTPTransport(retries=options.get("retries", 0), verify=context),
)


def call(operation: Operation) -> Outcome:
    """Whole, or piece by piece where it is a stream."""
    asked = {"content": operation["body"].encode(), "headers": operation["headers"]}
    if not operation["stream"]:
        answer = client.post(url + operation["path"], **asked)
        return response(answer.status_code, answer.headers, answer.content)
    with client.stream("POST", url + operation["path"], **asked) as answer:
        came = b""
        try:
            for piece in answer.iter_bytes():
                came += piece
        except Exception as error:
            raise Lost(**response(answer.status_code, answer.headers, came)) from error
        return response(answer.status_code, answer.headers, came)


class Failed(Exception):  # noqa: N818
    """An answer that is no success, as raise_for_status() makes an exception of it; it is handed on at the end."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome["status"])
        self.outcome = outcome


def retrying(attempts: int, first_s: float, only: str) -> Callable[[Operation], Outcome]:
    """tenacity around it: on every exception, or on those of the transport alone."""
    import tenacity

    errors = httpx.TransportError if only == "transport" else Exception

    @tenacity.retry(
        stop=tenacity.stop_after_attempt(attempts),
        wait=tenacity.wait_exponential(multiplier=first_s),
        retry=tenacity.retry_if_exception_type(errors),
        reraise=True,
    )
    def again(operation: Operation) -> Outcome:
        outcome = call(operation)
        if outcome["status"] >= 400:
            raise Failed(outcome)
        return outcome

    def whole(operation: Operation) -> Outcome:
        try:
            return again(operation)
        except Failed as error:
            return error.outcome

    return whole


serve(retrying(**options["tenacity"]) if "tenacity" in options else call)
