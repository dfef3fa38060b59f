"""The bytes of every reply body that names no operation. They depend on the fault alone, so that twin faults
send the same bytes on both sides of EXECUTE.
"""

from faults.vocabulary import Content

JSON_TYPE = "application/json"
HTML_TYPE = "text/html; charset=utf-8"

_FIXED: dict[Content, tuple[str, bytes]] = {
    Content.ERROR: (JSON_TYPE, b'{"error":{"message":"upstream failure","type":"server_error","code":null}}'),
    Content.NO_WORKERS: (
        JSON_TYPE,
        b'{"error":{"message":"No available workers","type":"service_unavailable","code":503}}',
    ),
    Content.HTML: (
        HTML_TYPE,
        b"<!DOCTYPE html><html><head><title>Sign in</title></head><body><h1>It works</h1></body></html>",
    ),
    Content.EMPTY: (JSON_TYPE, b""),
    Content.WRONG_SHAPE: (JSON_TYPE, b'{"status":"ok","data":[]}'),
    Content.NULL: (JSON_TYPE, b"null"),
    Content.OBJECT: (JSON_TYPE, b"{}"),
    Content.NO_CHOICES: (JSON_TYPE, b'{"id":"cmpl-0","object":"text_completion","choices":[]}'),
    Content.ERROR_OBJECT: (JSON_TYPE, b'{"error":{"message":"engine is dead","type":"server_error","code":500}}'),
}


def fixed_content(content: Content) -> tuple[str, bytes]:
    """Content type and body. Raises ValueError for RESULT, which names its operation and execution."""
    if content is Content.RESULT:
        raise ValueError("a result depends on operation and execution; expected a content that names neither")
    return _FIXED[content]
