"""How many submits and polls does the server of futures take? `python -m benchmarks.futures_rate` measures it against
the plain in-memory store of a minimal FastAPI app (benchmarks/plain_futures.py), both on one core, before the same
nginx as their router, and in turn. It also says by how much either process grows for each result that it keeps.

Exit codes: 0 cheap enough, 1 not, 4 a component is missing.

In each round so many callers at once submit on connections that they keep; when all has landed they poll for each
result once. CPU an operation is what the server's process used for both and for the forward between: it says the same
on a machine that others use meanwhile, where rates do not, so that it is the one that is held against what is expected.
"""

import asyncio
import json
import os
import resource
import statistics
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

import uvloop

from benchmarks.peers import HOST, MissingError, Server, free_port, need, nginx, pinned, started, wait_for
from benchmarks.ratio import ratio_of
from benchmarks.router_rate import Cores
from suites.request import Request
from suites.tinker.wire import JSON, PROTOBUF, Sampling, create_sampling_session, create_session, retrieve_future

ROUNDS = 7
CALLERS = 256
EACH = 8  # operations of each caller in a round
CONNECTIONS = 64  # to the router
TOKENS = 64
EXPECTED = 1.25  # times the CPU of the plain one at most, for all that it does beside

_BODY = {
    "id": "cmpl-1",
    "object": "text_completion",
    "choices": [
        {
            "index": 0,
            "text": "w" * TOKENS,
            "finish_reason": "length",
            "token_ids": list(range(100, 100 + TOKENS)),
            "logprobs": {
                "tokens": ["w"] * TOKENS,
                "token_logprobs": [-0.5 - at / 1000 for at in range(TOKENS)],
                "text_offset": list(range(TOKENS)),
                "top_logprobs": None,
            },
        }
    ],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One round: submits and polls a second, the CPU for each operation, and how large the process is afterwards."""

    submits: float
    polls: float
    cpu_us: float
    rss: int


class Connection:
    """One caller's, on which request follows answer."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, port: int) -> Self:
        """To that server."""
        return cls(*await asyncio.open_connection(HOST, port))

    async def ask(self, request: Request) -> bytes:
        """The body of its answer. Raises ValueError for any but 200."""
        fields = {"Host": HOST, "Content-Length": str(len(request.body)), **request.headers}
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        self._writer.write(f"POST {request.target} HTTP/1.1\r\n{head}\r\n".encode() + request.body)
        said = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        body = await self._reader.readexactly(int(said.split(b"content-length: ")[1].split(b"\r\n")[0]))
        if said.split()[1] != b"200":
            raise ValueError(f"{request.target} was answered {said!r} {body[:200]!r}; expected 200")
        return body

    def close(self) -> None:
        """With FIN."""
        self._writer.close()


class Side:
    """One server, asked by CALLERS callers. accepts: the form of its results."""

    def __init__(self, server: Server, accepts: str) -> None:
        self._server = server
        self._accepts = accepts
        self._seq_id = 0
        self._sampling_session = ""
        self.rounds: list[Measured] = []

    async def round(self) -> None:
        """Submits, then polls."""
        async with self._callers() as callers:
            if not self._sampling_session:
                self._sampling_session = await _session(callers[0])
            before_s, began = self._server.cpu_s, time.perf_counter()
            ids = await asyncio.gather(*map(self._submits, callers))
            submitted = time.perf_counter() - began
            await self._landed()
            began = time.perf_counter()
            await asyncio.gather(*(self._polls(caller, own) for caller, own in zip(callers, ids, strict=True)))
            polled = time.perf_counter() - began
        count = CALLERS * EACH
        cpu_us = (self._server.cpu_s - before_s) * 1e6 / count
        rss = _rss(self._server.process.pid)
        self.rounds.append(Measured(submits=count / submitted, polls=count / polled, cpu_us=cpu_us, rss=rss))

    @asynccontextmanager
    async def _callers(self) -> AsyncIterator[list[Connection]]:
        callers = [await Connection.open(self._server.port) for _ in range(CALLERS)]
        try:
            yield callers
        finally:
            for caller in callers:
                caller.close()

    async def _submits(self, caller: Connection) -> list[str]:
        ids = []
        for _ in range(EACH):
            self._seq_id += 1
            sampling = Sampling(
                sampling_session_id=self._sampling_session, seq_id=self._seq_id, prompt=(3, 5, 6), max_tokens=TOKENS
            )
            ids.append(_said(await caller.ask(sampling.request()))["request_id"])
        return ids

    async def _polls(self, caller: Connection, ids: Sequence[str]) -> None:
        for request_id in ids:
            if len(await caller.ask(retrieve_future(request_id, accept=self._accepts))) < TOKENS:
                raise ValueError(f"{request_id} has no result; expected one")

    async def _landed(self) -> None:
        while True:
            reader, writer = await asyncio.open_connection(HOST, self._server.port)
            writer.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            in_flight = _said((await reader.read()).partition(b"\r\n\r\n")[2])["in_flight"]
            writer.close()
            if not in_flight:
                return
            await asyncio.sleep(0.02)  # neither has an event for that


async def _session(caller: Connection) -> str:
    session_id = _said(await caller.ask(create_session()))["session_id"]
    return str(_said(await caller.ask(create_sampling_session(session_id)))["sampling_session_id"])


def _said(body: bytes) -> Any:
    return json.loads(body)


def _rss(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()


def main() -> int:
    """Measure, print a table, and say in the exit code whether it is enough."""
    try:
        need("nginx")
        if find_spec("fastapi") is None:
            raise MissingError("fastapi is not installed; expected it (pip install 'retryproof[bench]')")
        return _measured(Cores.chosen())
    except MissingError as error:
        print(f"futures_rate: {error}", file=sys.stderr)
        return 4


def _measured(cores: Cores) -> int:
    with ExitStack() as stack:
        router = stack.enter_context(nginx(json.dumps(_BODY).encode(), core=cores.load))
        url = f"http://{HOST}:{router.port}"
        ours_port, plain_port = stack.enter_context(free_port()), stack.enter_context(free_port())
        ours = [f"{HOST}:{ours_port}", "--router", url, "--max-connections", str(CONNECTIONS), "--no-access-log"]
        commands = {
            ours_port: ["-m", "forwarder", "--listen", *ours],
            plain_port: ["-m", "benchmarks.plain_futures", str(plain_port), url, str(CONNECTIONS)],
        }
        sides = []
        for port, words in commands.items():
            process = stack.enter_context(started([sys.executable, *words], core=cores.server))
            wait_for(port, process)
            sides.append(Side(Server(port=port, process=process), PROTOBUF if port == ours_port else JSON))
        with pinned(cores.load):
            uvloop.run(_in_turn(sides))
    return _report(*sides)


async def _in_turn(sides: Sequence[Side]) -> None:
    for side in sides:
        await side.round()  # what is made once is no part of it
    for number in range(ROUNDS):
        for side in sides if number % 2 else reversed(sides):
            await side.round()


def _report(ours: Side, plain: Side) -> int:
    load = os.getloadavg()[0]
    print(f"{CALLERS} callers at once, {EACH} operations each, {TOKENS} tokens; load of the machine {load:.1f}\n")
    print(
        f"{'server':10}{'submits/s':>11}{'lowest':>8}{'highest':>8}{'polls/s':>10}{'lowest':>8}{'highest':>8}", end=""
    )
    print(f"{'CPU us/operation':>18}{'bytes/result':>14}")
    for name, side in {"ours": ours, "FastAPI": plain}.items():
        rounds = side.rounds[1:]
        line = f"{name:10}"
        for rates, width in ([one.submits for one in rounds], 11), ([one.polls for one in rounds], 10):
            line += f"{statistics.median(rates):{width}.0f}{min(rates):8.0f}{max(rates):8.0f}"
        cpu_us = statistics.median(one.cpu_us for one in rounds)
        print(f"{line}{cpu_us:18.0f}{_growth(side):14.0f}")
    pairs = list(zip(ours.rounds[1:], plain.rounds[1:], strict=True))
    submits = [own.submits / other.submits for own, other in pairs]
    polls = [own.polls / other.polls for own, other in pairs]
    cpu = [own.cpu_us / other.cpu_us for own, other in pairs]
    print(f"\nof the plain store, median of {ROUNDS} rounds (lowest to highest):")
    for word, ratios in {"submits/s": submits, "polls/s": polls, "CPU an operation": cpu}.items():
        print(f"  {word:17}{statistics.median(ratios):6.2f} ({min(ratios):.2f} to {max(ratios):.2f})")
    print(f"  bytes a result   {_growth(ours) / _growth(plain):6.2f}")
    print(f"at most {EXPECTED:g} of its CPU expected")
    print(ratio_of("CPU of the server an operation, to the plain store", cpu, most=EXPECTED).line)
    return 0 if statistics.median(cpu) <= EXPECTED else 1


def _growth(side: Side) -> float:
    """By how much the process has grown for each result, from the first measured round to the last."""
    first, last = side.rounds[1], side.rounds[-1]
    return (last.rss - first.rss) / (CALLERS * EACH * (ROUNDS - 1))


if __name__ == "__main__":
    sys.exit(main())
