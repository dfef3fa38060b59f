"""Requests of which only a few numbers differ, made once: to write one anew for each operation would cost more than to
send it.
"""

from collections.abc import Mapping

from fake_router.content import MAX_NUMBER
from suites.request import Request

NUMBER = MAX_NUMBER  # stands for the operation's number in what a template is made of
SEQ = MAX_NUMBER - 1  # stands for the place of a submit in its session
ID = "retryproof-id"  # stands for the id of a future
ITERATION = MAX_NUMBER - 2  # stands for how many polls came before

_PLACES: Mapping[str, bytes] = {
    str(NUMBER): b"%(number)d",
    str(SEQ): b"%(seq)d",
    str(ITERATION): b"%(iteration)d",
    ID: b"%(id)s",
}


class Template:
    """A request to that host, with any of NUMBER, SEQ, ITERATION and ID in its headers and body."""

    def __init__(self, request: Request, host: str) -> None:
        headers = {"Host": host, **request.headers}
        lines = [f"{request.method} {request.target} HTTP/1.1", *(f"{name}: {text}" for name, text in headers.items())]
        self._head = _with_places("\r\n".join(lines).encode("latin-1") + b"\r\nContent-Length: ")
        self._body = _with_places(request.body)

    def filled(self, values: Mapping[bytes, int | bytes]) -> bytes:
        """Its bytes, with these values. Raises KeyError for one that is missing."""
        body = self._body % values
        return b"%s%d\r\n\r\n%s" % (self._head % values, len(body), body)


def _with_places(text: bytes) -> bytes:
    text = text.replace(b"%", b"%%")
    for sentinel, place in _PLACES.items():
        text = text.replace(sentinel.encode(), place)
    return text
