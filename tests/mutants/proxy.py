"""Mutants that are called over HTTP: the caller's side of a forwarder, right in the two classes that others change."""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from faults.evidence import Marker
from faults.plan import PlannedOperation
from suites.caller import call
from suites.history import Outcome
from suites.leaving import Leave
from suites.outcomes import outcome_of
from suites.request import Request
from suites.run import Promise
from suites.sent import sent_body
from suites.subject import Address, Instance
from suites.workload import completion_request
from tests.mutants.forwarder import Forwarder
from tests.mutants.sending import Got, Seen
from tests.mutants.subject import TIMEOUT_MS, MutantSubject, spec_of

NOT_EXECUTED = b'{"error":"not executed"}'
CLAIM = Marker(status=503, body=NOT_EXECUTED.decode())
UNKNOWN = b'{"error":"may have run"}'


class Transparent:
    """Passes on the bytes that came; what was cut ends without its last chunk."""

    promises = Promise.TRANSPARENT

    def __init__(self, forwarder: Forwarder) -> None:
        self.forwarder = forwarder

    def reply(self, gots: Sequence[Got]) -> bytes:
        """The bytes of the answer to the caller."""
        got = gots[-1]
        match got.seen:
            case Seen.WHOLE:
                return framed(got.status, got.content_type, got.body)
            case Seen.CUT:
                head = f"HTTP/1.1 {got.status} -\r\nContent-Type: {got.content_type}\r\nTransfer-Encoding: chunked\r\n"
                return head.encode() + b"\r\n%x\r\n%b\r\n" % (len(got.body), got.body)
            case Seen.SILENCE:
                return framed(504, "application/json", UNKNOWN)
            case _:
                return framed(502, "application/json", UNKNOWN)


class ReframesCuts(Transparent):
    """What came of a cut answer is passed on as all of it."""

    def reply(self, gots: Sequence[Got]) -> bytes:
        got = gots[-1]
        return framed(got.status, got.content_type, got.body) if got.seen is Seen.CUT else super().reply(gots)


class EncodesAgain(Transparent):
    """JSON is decoded and encoded on its way through."""

    def reply(self, gots: Sequence[Got]) -> bytes:
        got = gots[-1]
        try:
            return framed(got.status or 502, got.content_type, json.dumps(json.loads(got.body)).encode())
        except ValueError:
            return super().reply(gots)


class AnswersErrorsTwice(Transparent):
    """Behind an error of the router that it has passed on it answers with an error of its own."""

    def reply(self, gots: Sequence[Got]) -> bytes:
        error = gots[-1].seen is Seen.WHOLE and (gots[-1].status or 0) >= 500
        return super().reply(gots) + (framed(502, "application/json", UNKNOWN) if error else b"")


class Answering:
    """Answers with a result, with "not executed" where that is proved, and else with "may have run"."""

    promises = Promise.ANSWERING

    def __init__(self, forwarder: Forwarder) -> None:
        self.forwarder = forwarder

    def reply(self, gots: Sequence[Got]) -> bytes:
        """The bytes of the answer to the caller."""
        if self.forwarder.result(gots) is not None:
            return framed(200, "application/json", gots[-1].body)
        if self.forwarder.says_not_executed(gots):
            return framed(503, "application/json", NOT_EXECUTED)
        return framed(502, "application/json", UNKNOWN)


class DropsItsCallers(Answering):
    """A failure ends the caller's connection without a word."""

    def reply(self, gots: Sequence[Got]) -> bytes:
        return super().reply(gots) if self.forwarder.result(gots) is not None else b""


def framed(status: int | None, content_type: str, body: bytes) -> bytes:
    """A whole answer of a server that closes after it."""
    head = f"HTTP/1.1 {status} -\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"Connection: close\r\n\r\n" + body


Side = Transparent | Answering

SIDES: Mapping[str, type[Side]] = {
    "correct-proxy": Transparent,
    "correct-server": Answering,
    "reframes-cuts": ReframesCuts,
    "encodes-again": EncodesAgain,
    "answers-errors-twice": AnswersErrorsTwice,
    "drops-its-callers": DropsItsCallers,
}


def served(name: str, side: type[Side]) -> MutantSubject:
    """A mutant that is called over HTTP, with a correct forwarder behind it."""

    async def start(upstreams: Sequence[Address]) -> Instance:
        instance = ServedInstance(side(Forwarder(upstreams, TIMEOUT_MS / 1000)))
        await instance.listen()
        return instance

    return MutantSubject(spec=spec_of(name, side.promises, in_process=False), starting=start)


class ServedInstance:
    """A server on a port of its own."""

    def __init__(self, side: Side) -> None:
        self._side = side

    async def listen(self) -> None:
        """Be ready."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self._address: Address = self._server.sockets[0].getsockname()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
            body = await reader.readexactly(int(length.partition(b":")[2]))
            await self.answer(body, writer)
        finally:
            writer.close()

    async def answer(self, body: bytes, writer: asyncio.StreamWriter) -> None:
        """What the caller of that request gets."""
        writer.write(self._side.reply(await self._side.forwarder.forward(body)))

    async def call(
        self, planned: PlannedOperation, number: int, ceiling_ms: int, leave: Leave | None = None
    ) -> Outcome:
        """One operation over HTTP."""
        began_ns = time.monotonic_ns()
        form = planned.form
        body = json.dumps(completion_request(number, form, planned.body_bytes)).encode()
        headers = {"Content-Type": "application/json"}
        request = Request(target=form.api.path, body=body, headers=headers, segments=planned.segments)
        reply = await call(self._address, request, ceiling_ms=ceiling_ms, leave=leave)
        return replace(outcome_of(reply, number, form, (CLAIM,), began_ns), sent=sent_body(body))

    async def idle(self) -> bool | None:
        """It counts what it has in flight."""
        return self._side.forwarder.in_flight == 0

    def died(self) -> str | None:
        """It lives as long as this process."""
        return None

    async def stop(self) -> None:
        """Listen no more, and let go of the sockets."""
        self._server.close()
        await self._server.wait_closed()
        await self._side.forwarder.close()
