"""A request as its caller writes it: its bytes, and in which parts they leave."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import h11

from faults.plan import EACH_BYTE

SEGMENTS = (EACH_BYTE, 1, 2)


class Parts(NamedTuple):
    """What is written at once, and what waits for 100 Continue; each of them is one segment."""

    at_once: list[bytes]
    expecting: list[bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Host (unless given) and Content-Length are added to the headers. The bytes leave as one segment, as two (head,
    then body), or byte by byte (0), as far as they fit the path's segment size. expect: the body waits for 100
    Continue (RFC 9110 s10.1.1).

    Raises ValueError for other numbers of segments.
    """

    target: str
    body: bytes
    headers: Mapping[str, str]
    segments: int = 1
    method: str = "POST"
    expect: bool = False

    def __post_init__(self) -> None:
        if self.segments not in SEGMENTS:
            raise ValueError(f"segments is {self.segments!r}; expected 1, 2 (head and body apart), or 0 (each byte)")

    def written(self, http: h11.Connection, address: tuple[str, int]) -> Parts:
        """Its parts, when that connection to that address sends it."""
        head = http.send(h11.Request(method=self.method, target=self.target, headers=self._headers(address))) or b""
        content = (http.send(h11.Data(data=self.body)) or b"") + (http.send(h11.EndOfMessage()) or b"")
        messages = [head, content] if self.segments == 2 or self.expect else [head + content]
        if self.segments != EACH_BYTE:
            return Parts(messages[:1], messages[1:]) if self.expect else Parts(messages, [])
        each = [message[at : at + 1] for message in messages for at in range(len(message))]
        return Parts(each[: len(head)], each[len(head) :]) if self.expect else Parts(each, [])

    def _headers(self, address: tuple[str, int]) -> list[tuple[str, str]]:
        host, port = address
        authority = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        headers = {"Host": authority, **self.headers, "Content-Length": str(len(self.body))}
        if self.expect:
            headers["Expect"] = "100-continue"
        return list(headers.items())
