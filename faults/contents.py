"""The bytes of every reply body that names no operation, and of what is no reply. They depend on the fault alone, so
that twin faults send the same bytes on both sides of EXECUTE.
"""

from faults.form import COMPLETION, Form
from faults.vocabulary import Content, Noise, Soundness

HUGE_BYTES = 100_000_000  # of a reply that is not held in memory
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
    Content.NULL_CHOICES: (JSON_TYPE, b'{"id":"cmpl-0","object":"text_completion","choices":null}'),
    Content.ERROR_OBJECT: (JSON_TYPE, b'{"error":{"message":"engine is dead","type":"server_error","code":500}}'),
}


_NOISE = {
    Noise.TLS_ALERT: b"\x15\x03\x03\x00\x02\x02\x28",  # fatal, handshake_failure
    Noise.GARBAGE: b"segmentation fault (core dumped)\r\n",
}

_SOUND = frozenset({Content.RESULT, Content.HUGE})
# A forwarder does not know whose answer it should have got, nor that a model would have said anything at all.
_UNPROVABLE = frozenset({Content.FOREIGN, Content.NO_TOKENS})
_OF_STREAMS = {
    Content.RESULT: Soundness.SOUND,
    Content.PINGS: Soundness.SOUND,
    Content.FOREIGN: Soundness.UNPROVABLE,
}


def is_fixed(content: Content) -> bool:
    """It names no operation: its bytes are always the same."""
    return content in _FIXED


def fixed_content(content: Content) -> tuple[str, bytes]:
    """Content type and body. Raises ValueError for content that names its operation and execution."""
    if content not in _FIXED:
        raise ValueError(f"{content!r} depends on operation and execution; expected a content that names neither")
    return _FIXED[content]


def fixed_body(content: Content) -> bytes:
    """The body; nothing for content that names its operation and execution."""
    return _FIXED[content][1] if content in _FIXED else b""


def noise_bytes(noise: Noise) -> bytes:
    """The bytes that are no HTTP."""
    return _NOISE[noise]


def soundness_of(content: Content, form: Form = COMPLETION) -> Soundness:
    """What may be made of it when it comes with a whole 200 to a request of that form. What is not named here is wrong:
    in place of a stream, all that is none.
    """
    if form.stream:
        return _OF_STREAMS.get(content, Soundness.WRONG)
    if content in _SOUND:
        return Soundness.SOUND
    return Soundness.UNPROVABLE if content in _UNPROVABLE else Soundness.WRONG
