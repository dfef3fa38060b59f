"""Whom a ClientHello is meant for, read from the bytes of a connection before any of them is decrypted."""

from typing import NamedTuple

_HEAD_BYTES = 5  # of a record: its type, a version, its length (RFC 8446 s5.1)
_HANDSHAKE = 22  # the type of a record that belongs to one
_CLIENT_HELLO = b"\1"  # the type of that message (RFC 8446 s4)
_BEFORE_BYTES = 4 + 2 + 32  # its type and length, a version, a random value (RFC 8446 s4.1.2)
_SERVER_NAME, _HOST_NAME = 0, 0  # the extension, and the only kind of name that there is in it (RFC 6066 s3)
_MAX_BYTES = 65_536


class Hello(NamedTuple):
    """A ClientHello. server_name: None where it names nobody, or so that nobody can read it."""

    server_name: str | None


class HelloReader:
    """Takes the first bytes of a connection in. `over`: its ClientHello has come, or it can have none."""

    __slots__ = ("_data", "_message", "over")

    def __init__(self) -> None:
        self._data = b""  # of a record that is not whole
        self._message = b""
        self.over = False

    def feed(self, data: bytes) -> Hello | None:
        """The ClientHello that these further bytes complete."""
        if self.over:
            return None
        self._data += data
        while len(self._data) >= _HEAD_BYTES and not self.over:
            end = _HEAD_BYTES + int.from_bytes(self._data[3:_HEAD_BYTES], "big")
            if self._data[0] != _HANDSHAKE:
                self.over = True
            elif len(self._data) < end:
                return None
            elif (hello := self._take(self._data[_HEAD_BYTES:end])) is not None:
                return hello
            self._data = self._data[end:]
        return None

    def _take(self, fragment: bytes) -> Hello | None:
        """The message may be spread over several records (RFC 8446 s5.1)."""
        self._message += fragment
        message = self._message
        size = 4 + int.from_bytes(message[1:4], "big")
        self.over = message[:1] not in (b"", _CLIENT_HELLO) or len(message) >= size >= 4 or len(message) > _MAX_BYTES
        return Hello(_name_in(message[:size])) if len(message) >= size and message[:1] == _CLIENT_HELLO else None


def _name_in(message: bytes) -> str | None:
    try:
        at = _BEFORE_BYTES
        for length_bytes in (1, 2, 1):  # session id, cipher suites, compression methods
            _, at = _vector(message, at, length_bytes)
        extensions, _ = _vector(message, at, 2)
        at = 0
        while at < len(extensions):
            kind, (content, at) = int.from_bytes(extensions[at : at + 2], "big"), _vector(extensions, at + 2, 2)
            if kind == _SERVER_NAME:
                names, _ = _vector(content, 0, 2)
                name, _ = _vector(names, 1, 2)
                return name.decode("ascii", "backslashreplace") if names[0] == _HOST_NAME else None
    except ValueError:
        pass
    return None


def _vector(data: bytes, at: int, length_bytes: int) -> tuple[bytes, int]:
    """What stands there behind its length, and where it ends. Raises ValueError where it is cut."""
    begin = at + length_bytes
    end = begin + int.from_bytes(data[at:begin], "big")
    if len(data) < max(begin, end):
        raise ValueError(f"{len(data)} bytes; expected at least {max(begin, end)}")
    return data[begin:end], end
