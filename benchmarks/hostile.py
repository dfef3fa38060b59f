"""Hostile inputs for a router, each a function of one random number generator, with what must come of it.

Used by the long run (`benchmarks.router_fuzz`) and, small, by the tests: what one finds the other replays.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from fake_router.content import prompt_tokens
from fake_router.routes import MAX_CHOICES
from fake_router.wire import MAX_BODY_BYTES, MAX_HEAD_BYTES
from faults.form import Api, Form
from suites.workload import completion_request

TARGET = Api.COMPLETIONS.path
FORMS = tuple(Form(api=api, stream=stream) for api in Api for stream in (False, True))
_SMALL = 400  # bytes


class Then(StrEnum):
    """How the peer goes on when it has sent everything."""

    HALF_CLOSE = "half-close"  # FIN, and it reads
    READ = "read"  # it reads until the router ends the connection
    RESET = "reset"  # RST, at once
    HOLD = "hold"  # it stays, half-open, and ends later
    LEAVE = "leave"  # it reads the beginning of its answer, and is gone with the rest unread


@dataclass(frozen=True, slots=True, kw_only=True)
class Hostile:
    """One connection of a hostile peer. parts: what it sends, a segment each. operations: those that it sends whole, so
    that the ledger must name each. expects: the statuses that it must get, in order; None: any that are allowed.
    """

    kind: str
    parts: tuple[bytes, ...]
    then: Then = Then.HALF_CLOSE
    operations: tuple[int, ...] = ()
    expects: tuple[int, ...] | None = None


def body(operation: int) -> bytes:
    """The content that carries that operation."""
    return msgspec.json.encode({"prompt": prompt_tokens(operation)})


def asked(rng: random.Random, operation: int, *fields: bytes, choices: int = 1) -> bytes:
    """A request for that operation, of any form: a completion or a chat, whole or streamed."""
    form = rng.choice(FORMS)
    content = completion_request(operation, form) | {"n": choices}
    return post(msgspec.json.encode(content), *fields, target=form.api.path.encode())


def post(content: bytes, *fields: bytes, version: bytes = b"1.1", target: bytes = TARGET.encode()) -> bytes:
    """A request whose length is right, with more fields."""
    lines = (b"POST %b HTTP/%b" % (target, version), b"Host: h", b"Content-Length: %d" % len(content), *fields)
    return b"\r\n".join(lines) + b"\r\n\r\n" + content


def _noise(rng: random.Random, _: int) -> Hostile:
    return Hostile(kind="noise", parts=(rng.randbytes(rng.randint(1, _SMALL)),))


def _mutated(rng: random.Random, operation: int) -> Hostile:
    data = bytearray(asked(rng, operation))
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data))
        match rng.randrange(4):
            case 0:
                data[at] = rng.randrange(256)
            case 1:
                del data[at : at + rng.randint(1, 8)]
            case 2:
                data[at:at] = rng.randbytes(rng.randint(1, 8))
            case _:
                data[at:at] = data[at : at + rng.randint(1, 40)]
        data = data or bytearray(b"\n")
    return Hostile(kind="mutated", parts=(bytes(data),))


def _byte_by_byte(_: random.Random, operation: int) -> Hostile:
    data = post(body(operation))
    parts = tuple(data[at : at + 1] for at in range(len(data)))
    return Hostile(kind="byte by byte", parts=parts, operations=(operation,), expects=(200,))


def _split(rng: random.Random, operation: int) -> Hostile:
    data = asked(rng, operation, b"Connection: close")
    at = rng.randrange(1, len(data))
    parts = (data[:at], data[at:])
    return Hostile(kind="split", parts=parts, then=Then.READ, operations=(operation,), expects=(200,))


def _pipelined(rng: random.Random, operation: int) -> Hostile:
    operations = tuple(range(operation, operation + rng.randint(2, STRIDE)))
    closes = operations[-1]
    data = b"".join(asked(rng, one, *([b"Connection: close"] if one == closes else [])) for one in operations)
    return Hostile(
        kind="pipelined", parts=(data,), then=Then.READ, operations=operations, expects=(200,) * len(operations)
    )


def _half_closed_pipeline(rng: random.Random, operation: int) -> Hostile:
    """Nobody promises all answers to a peer that has ended; the ledger has every request."""
    operations = (operation, operation + 1)
    data = b"".join(asked(rng, one) for one in operations)
    return Hostile(kind="half-closed pipeline", parts=(data,), operations=operations)


def _half_closed(rng: random.Random, operation: int) -> Hostile:
    return Hostile(kind="half-closed", parts=(asked(rng, operation),), operations=(operation,), expects=(200,))


def _leaving(rng: random.Random, operation: int) -> Hostile:
    """Of a small answer, or of so many large ones that the kernel has not taken them all by then."""
    several = rng.randrange(40) == 0
    operations = tuple(range(operation, operation + STRIDE)) if several else (operation,)
    choices = MAX_CHOICES if several else 1
    data = b"".join(asked(rng, one, choices=choices) for one in operations)
    return Hostile(kind="leaving", parts=(data,), then=Then.LEAVE, operations=operations, expects=(200,))


def _huge_head(rng: random.Random, operation: int) -> Hostile:
    field = b"X: " + b"x" * rng.randint(MAX_HEAD_BYTES, 2 * MAX_HEAD_BYTES)
    return Hostile(kind="huge head", parts=(post(body(operation), field),), expects=(431,))


def _endless_head(rng: random.Random, _: int) -> Hostile:
    start = b"POST / HTTP/1.1\r\n" + b"X: y\r\n" * rng.randint(MAX_HEAD_BYTES // 2, MAX_HEAD_BYTES)
    return Hostile(kind="endless head", parts=(start,), expects=(431,) if len(start) > 2 * MAX_HEAD_BYTES else None)


def _bad_chunks(rng: random.Random, operation: int) -> Hostile:
    head = b"POST %b HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" % TARGET.encode()
    wrong = (b"zz\r\n", b"-1\r\n", b"5\r\nabc\r\n0\r\n\r\n\r\n", b"f" * 17 + b"\r\n", b"\r\n", b"5;\x00\r\nabcde\r\n")
    return Hostile(kind="bad chunks", parts=(head + rng.choice(wrong) + body(operation),), expects=(400,))


def _chunked(rng: random.Random, operation: int) -> Hostile:
    head = b"POST %b HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" % TARGET.encode()
    content, sent = body(operation), b""
    while content:
        size = rng.randint(1, len(content))
        sent += b"%x\r\n%b\r\n" % (size, content[:size])
        content = content[size:]
    data = head + sent + b"0\r\n" + rng.choice((b"", b"X: y\r\n")) + b"\r\n"
    return Hostile(kind="chunked", parts=(data,), operations=(operation,), expects=(200,))


def _bad_framing(rng: random.Random, operation: int) -> Hostile:
    fields, status = rng.choice(
        (
            ((b"Content-Length: 1",), 400),
            ((b"Transfer-Encoding: chunked",), 400),
            ((b"Transfer-Encoding: gzip",), 400),
            ((b"no colon",), 400),
            ((b" folded",), 400),
            ((b"X\x00: y",), 400),
        )
    )
    return Hostile(kind="bad framing", parts=(post(body(operation), *fields),), expects=(status,))


def _too_long(rng: random.Random, _: int) -> Hostile:
    length = rng.choice((MAX_BODY_BYTES + 1, 2**40, 2**62))
    data = b"POST %b HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n" % (TARGET.encode(), length)
    return Hostile(kind="too long", parts=(data,), expects=(413,))


def _no_work(rng: random.Random, _: int) -> Hostile:
    content = rng.choice((b"", b"{", b"[]", b"null", b'{"n":1}', b'{"prompt":[1],"n":0}', b"\xff" * 9, b"[" * 5000))
    return Hostile(kind="no work", parts=(post(content),), expects=(400,))


def _elsewhere(rng: random.Random, operation: int) -> Hostile:
    data, status = rng.choice(
        (
            (post(body(operation), target=b"/v2/completions"), 404),
            (post(body(operation), target=b"/health"), 405),
            (post(body(operation), target=b"*"), 404),
            (b"GET %b HTTP/1.1\r\n\r\n" % TARGET.encode(), 405),
            (b"GET /nowhere HTTP/1.1\r\n\r\n", 404),
            (b"GET /health HTTP/1.1\r\n\r\n", 200),
            (b"CONNECT h:1 HTTP/1.1\r\n\r\n", 404),
        )
    )
    return Hostile(kind="elsewhere", parts=(data,), expects=(status,))


def _old_words(rng: random.Random, operation: int) -> Hostile:
    data, expects = rng.choice(
        (
            (post(body(operation), version=b"1.0"), (200,)),
            (post(body(operation), b"Expect: 100-continue"), (100, 200)),
            (post(body(operation), b"Connection: Upgrade", b"Upgrade: h2c"), (200,)),
        )
    )
    return Hostile(kind="old words", parts=(data,), operations=(operation,), expects=expects)


def _cut(rng: random.Random, operation: int) -> Hostile:
    data = asked(rng, operation)
    return Hostile(kind="cut", parts=(data[: rng.randrange(len(data))],), expects=())


def _half_open(rng: random.Random, operation: int) -> Hostile:
    data = asked(rng, operation)
    return Hostile(kind="half-open", parts=(data[: rng.randrange(len(data))],), then=Then.HOLD, expects=())


def _reset(rng: random.Random, operation: int) -> Hostile:
    data = asked(rng, operation)
    return Hostile(kind="reset", parts=(data[: rng.randrange(len(data) + 1)],), then=Then.RESET)


STRIDE = 8  # numbers that one input may use
# How often each is drawn: large and slow ones cost a hundred times as much as the others.
KINDS: dict[Callable[[random.Random, int], Hostile], int] = {
    _noise: 200,
    _mutated: 300,
    _byte_by_byte: 10,
    _split: 60,
    _pipelined: 60,
    _half_closed_pipeline: 20,
    _half_closed: 60,
    _leaving: 60,
    _huge_head: 5,
    _endless_head: 5,
    _bad_chunks: 50,
    _chunked: 40,
    _bad_framing: 50,
    _too_long: 20,
    _no_work: 40,
    _elsewhere: 40,
    _old_words: 40,
    _cut: 60,
    _half_open: 60,
    _reset: 60,
}


def hostile(rng: random.Random, operation: int) -> Hostile:
    """One input; it may use the numbers from `operation` up to `STRIDE` of them."""
    (kind,) = rng.choices(_ALL, _WEIGHTS)
    return kind(rng, operation)


_ALL, _WEIGHTS = list(KINDS), list(KINDS.values())
