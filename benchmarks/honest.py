"""Whether what came back to a hostile peer is honest: whole replies, with statuses that fit to what it sent."""

from benchmarks.hostile import Hostile, Then

ALLOWED = frozenset({100, 200, 400, 404, 405, 413, 431})  # what an honest router may say to a hostile peer
_BEGINNING = b"HTTP/1.1 200 OK\r\n"


class NoReplyError(ValueError):
    """What the router sent is no sequence of replies; the message quotes it."""


def statuses(data: bytes) -> list[int]:
    """The statuses of the replies in these bytes, each framed by its length or its chunks. Raises NoReplyError."""
    found = []
    while data:
        head, end, rest = data.partition(b"\r\n\r\n")
        words = head.split(b" ", 2)
        if not end or words[0] != b"HTTP/1.1" or not words[1].isdigit():
            raise NoReplyError(f"{data[:80]!r} is no reply")
        found.append(int(words[1]))
        if b"\r\nTransfer-Encoding: chunked" in head:
            data = _behind_chunks(rest)
            continue
        _, named, length = head.partition(b"\r\nContent-Length: ")
        size = int(length.partition(b"\r\n")[0]) if named else 0
        if len(rest) < size:
            raise NoReplyError(f"a body of {len(rest)} bytes; expected {size}")
        data = rest[size:]
    return found


def _behind_chunks(data: bytes) -> bytes:
    """What follows the last chunk (RFC 9112 s7.1); ours has no trailer."""
    while True:
        line, end, rest = data.partition(b"\r\n")
        try:
            size = int(line, 16)
        except ValueError:
            raise NoReplyError(f"{line[:80]!r} is no size of a chunk") from None
        if not end or rest[size : size + 2] != b"\r\n":
            raise NoReplyError(f"a chunk of {len(rest)} bytes; expected {size}, and its end")
        data = rest[size + 2 :]
        if not size:
            return data


def wrong_with(one: Hostile, data: bytes) -> str:
    """What is wrong with the answer that this input got; empty: nothing."""
    if one.then is Then.LEAVE:
        return "" if data and _BEGINNING.startswith(data[: len(_BEGINNING)]) else f"an answer that begins {data[:80]!r}"
    try:
        got = statuses(data)
    except NoReplyError as error:
        # A mutation may have made a HEAD of it, whose answer has a length and no body.
        return "" if one.kind == "mutated" and data.startswith(b"HTTP/1.1 ") else str(error)
    if one.expects is not None:
        return "" if tuple(got) == one.expects else f"answers {got}; expected {list(one.expects)}"
    odd = [status for status in got if status not in ALLOWED]
    return f"answers {got}; expected none but {sorted(ALLOWED)}" if odd else ""
