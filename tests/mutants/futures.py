"""Mutants that speak the Tinker protocol: a server with futures, right in the one class that the others change."""

import asyncio
import contextlib
import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from faults.evidence import Marker
from faults.plan import PlannedOperation
from suites.endpoint import Endpoint
from suites.history import Outcome
from suites.leaving import Leave
from suites.run import Promise
from suites.speech import PROTOCOLS, Speech
from suites.subject import Address, Instance
from suites.tinker import wire
from suites.tinker.caller import TinkerCaller
from suites.workload import MODEL
from tests.mutants.forwarder import Forwarder
from tests.mutants.proxy import framed
from tests.mutants.subject import TIMEOUT_MS, MutantSubject, spec_of

CLAIM = Marker(status=200, body='"executed":"no"')
GONE = framed(404, wire.JSON, b'{"error":"no such future"}')


@dataclass(slots=True)
class Future:
    """One that was taken on; answer: what its pollers get."""

    answer: asyncio.Future[bytes] = field(default_factory=asyncio.Future)


class Futures:
    """One future for each key, forwarded at once; every poll waits, and gets what landed."""

    def __init__(self, forwarder: Forwarder) -> None:
        self.forwarder = forwarder
        self.futures: dict[str, Future] = {}
        self.of_key: dict[tuple[str, int], str] = {}
        self.working: set[asyncio.Task[None]] = set()

    @property
    def in_flight(self) -> int:
        """Futures on which nothing has landed."""
        return len(self.working)

    def submitted(self, asked: Mapping[str, Any]) -> bytes:
        """The id of the future with that key; a new one is forwarded."""
        key = (asked["sampling_session_id"], asked["seq_id"])
        if key not in self.of_key:
            self.of_key[key] = self.begin(asked)
        return framed(200, wire.JSON, json.dumps({"request_id": self.of_key[key]}).encode())

    def begin(self, asked: Mapping[str, Any]) -> str:
        """Take it on under a new id."""
        id_ = str(len(self.futures) + 1)
        self.futures[id_] = Future()
        work = asyncio.ensure_future(self.work(self.futures[id_], asked["prompt"]["chunks"][0]["tokens"]))
        self.working.add(work)
        work.add_done_callback(self.working.discard)
        return id_

    async def work(self, future: Future, prompt: Sequence[int]) -> None:
        """Forward it, and let what came of it land."""
        body = {"model": MODEL, "prompt": prompt, "n": 1, "max_tokens": 64, "logprobs": 1, "return_token_ids": True}
        gots = await self.forwarder.forward(json.dumps(body).encode())
        if self.forwarder.result(gots) is not None:
            future.answer.set_result(framed(200, wire.PROTOBUF, self.encoded(gots[-1].body)))
            return
        executed = "no" if self.forwarder.says_not_executed(gots) else "unknown"
        failed = {"error": "it failed", "category": "server", "executed": executed}
        future.answer.set_result(framed(200, wire.JSON, json.dumps(failed, separators=(",", ":")).encode()))

    def encoded(self, body: bytes) -> bytes:
        """The first choice of that completion, as one sequence of a SampleResponse."""
        choice = json.loads(body)["choices"][0]
        tokens, logprobs = choice["token_ids"], choice["logprobs"]["token_logprobs"]
        packed = [struct.pack(f"<{len(tokens)}i", *tokens), struct.pack(f"<{len(logprobs)}f", *logprobs)]
        sequence = b"".join(b"%c%c%b" % (key, len(data), data) for key, data in zip((0x12, 0x1A), packed, strict=True))
        return b"\x0a%c%b" % (len(sequence), sequence)

    async def polled(self, id_: str, reader: asyncio.StreamReader) -> bytes:
        """What that poll gets, whoever else waits for it; nothing where its caller leaves before."""
        future = self.futures.get(id_)
        if future is None:
            return GONE
        left = asyncio.ensure_future(_left(reader))
        try:
            await asyncio.wait((left, future.answer), return_when=asyncio.FIRST_COMPLETED)
        finally:
            left.cancel()
        if future.answer.done():
            return self.delivered(id_, future.answer.result())
        self.abandoned(id_)
        return b""

    def abandoned(self, id_: str) -> None:
        """A poll for it was left before it landed."""

    def delivered(self, id_: str, answer: bytes) -> bytes:
        """What is written to one that waited."""
        return answer


async def _left(reader: asyncio.StreamReader) -> None:
    with contextlib.suppress(ConnectionError):
        await reader.read(1)


class TakesEvery200ForAResult(Futures):
    """Whatever came with a 200 is a result: of what is none, an empty one."""

    def encoded(self, body: bytes) -> bytes:
        try:
            return super().encoded(body)
        except (ValueError, KeyError, TypeError, IndexError, struct.error):
            return b"\x0a\x00"


class BeginsAgainOnEachSubmit(Futures):
    """A submit that is sent again makes a second future."""

    def submitted(self, asked: Mapping[str, Any]) -> bytes:
        self.of_key.clear()
        return super().submitted(asked)


class ForgetsWhatIsAbandoned(Futures):
    """Whoever leaves a poll will not be back: its future is dropped."""

    def abandoned(self, id_: str) -> None:
        self.futures.pop(id_, None)


class ForgetsWhatItWrote(Futures):
    """A result that was written once is gone."""

    def delivered(self, id_: str, answer: bytes) -> bytes:
        self.futures.pop(id_, None)
        return answer


FUTURES: Mapping[str, type[Futures]] = {
    "correct-futures": Futures,
    "takes-every-200-for-a-result": TakesEvery200ForAResult,
    "begins-again-on-each-submit": BeginsAgainOnEachSubmit,
    "forgets-what-is-abandoned": ForgetsWhatIsAbandoned,
    "forgets-what-it-wrote": ForgetsWhatItWrote,
}


class TakesEvery200(Forwarder):
    """What comes with a 200 is a result."""

    def result(self, gots: Sequence[Any]) -> Any:
        got = gots[-1]
        return super().result(gots) or (((), "") if got.status == 200 else None)


def with_futures(name: str, kind: type[Futures]) -> MutantSubject:
    """A mutant that speaks the protocol, with a forwarder behind it that fits."""
    forwards = TakesEvery200 if kind is TakesEvery200ForAResult else Forwarder

    async def start(upstreams: Sequence[Address]) -> Instance:
        instance = FuturesInstance(kind(forwards(upstreams, TIMEOUT_MS / 1000)))
        await instance.listen()
        return instance

    spec = spec_of(name, Promise.FUTURES, in_process=False)
    return MutantSubject(spec=replace(spec, reach=PROTOCOLS[Speech.TINKER].unasked), starting=start)


class FuturesInstance:
    """It on a port of its own, with its caller."""

    def __init__(self, futures: Futures) -> None:
        self._futures = futures

    async def listen(self) -> None:
        """Be ready."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        endpoint = Endpoint(address=self._server.sockets[0].getsockname())
        self._caller = TinkerCaller(endpoint=endpoint, not_executed=(CLAIM,), again=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
            asked = json.loads(await reader.readexactly(int(length.partition(b":")[2])))
            if answer := await self._answer(head.split(b" ", 2)[1].decode(), asked, reader):
                writer.write(answer)
        finally:
            writer.close()

    async def _answer(self, path: str, asked: Mapping[str, Any], reader: asyncio.StreamReader) -> bytes:
        match path:
            case wire.ASAMPLE:
                return self._futures.submitted(asked)
            case wire.RETRIEVE_FUTURE:
                return await self._futures.polled(asked["request_id"], reader)
            case _:
                return framed(200, wire.JSON, b'{"session_id":"s","sampling_session_id":"s"}')

    async def call(
        self, planned: PlannedOperation, number: int, ceiling_ms: int, leave: Leave | None = None
    ) -> Outcome:
        """One operation, as a caller of the protocol asks for it."""
        return await self._caller.call(planned, number, ceiling_ms, leave)

    async def idle(self) -> bool | None:
        """It counts the futures on which nothing has landed."""
        return self._futures.in_flight == 0

    def died(self) -> str | None:
        """It lives as long as this process."""
        return None

    async def stop(self) -> None:
        """Listen no more, and let go of the sockets."""
        self._server.close()
        await self._server.wait_closed()
        await self._futures.forwarder.close()
