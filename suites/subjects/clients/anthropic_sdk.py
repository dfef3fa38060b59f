"""The anthropic SDK: its client's own post(), which its README shows for paths that it has no method for."""

import ssl

import anthropic
import httpx2
from lines import Operation, Outcome, arguments, response, serve

url, ca, options = arguments()
tls = {"verify": ssl.create_default_context(cafile=ca)} if url.startswith("https") else {}
retries = {"max_retries": options["max_retries"]} if "max_retries" in options else {}
client = anthropic.Anthropic(
    api_key="sk-retryproof",
    base_url=url,
    timeout=anthropic.Timeout(options["read_ms"] / 1000, connect=options["connect_ms"] / 1000),
    http_client=anthropic.DefaultHttpxClient(**tls) if tls else None,
    **retries,
)


def call(operation: Operation) -> Outcome:
    """The response that post() returns; of one that is no success the SDK makes an error, which carries it."""
    asked = {"content": operation["body"].encode(), "options": {"headers": operation["headers"]}}
    try:
        answer = client.post(operation["path"], cast_to=httpx2.Response, **asked)
    except anthropic.APIStatusError as error:
        answer = error.response
    return response(answer.status_code, answer.headers, answer.content)


serve(call)
