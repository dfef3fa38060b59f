"""urllib3: a PoolManager with a Retry, as its options say."""

from typing import Any

import urllib3
from lines import Lost, Operation, Outcome, arguments, response, serve

url, ca, options = arguments()
retry = options.get("retry")
pool = urllib3.PoolManager(
    ca_certs=ca,
    maxsize=options.get("maxsize", 10),
    block=options.get("block", False),
    timeout=urllib3.Timeout(connect=options["connect_ms"] / 1000, read=options["read_ms"] / 1000),
    **({} if retry is None else {"retries": urllib3.Retry(**retry)}),
)


def call(operation: Operation) -> Outcome:
    """Whole, or piece by piece where it is a stream."""
    asked: dict[str, Any] = {"body": operation["body"].encode(), "headers": operation["headers"]}
    answer = pool.request("POST", url + operation["path"], preload_content=not operation["stream"], **asked)
    if not operation["stream"]:
        return response(answer.status, answer.headers, answer.data)
    came = b""
    try:
        for piece in answer.stream():
            came += piece
    except Exception as error:
        raise Lost(**response(answer.status, answer.headers, came)) from error
    finally:
        answer.release_conn()
    return response(answer.status, answer.headers, came)


serve(call)
