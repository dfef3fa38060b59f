"""A real nginx, started from its subject file: connect faults have their witnesses, and nothing outlives us."""

import asyncio
import contextlib
import json
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fake_router.content import prompt_tokens
from fake_router.kernel import DialWitness, can_watch_packets, listener_drops, sockets_towards
from faults.plan import PlannedOperation
from suites.foreign import ForeignInstance, built_in_subject
from suites.history import Arrival, Kind
from suites.processes import Supervisor
from suites.subject import Address

pytestmark = pytest.mark.skipif(shutil.which("nginx") is None, reason="needs nginx")
watching = pytest.mark.skipif(not can_watch_packets(), reason="needs CAP_NET_RAW")

ROUNDS = 5
CEILING_MS = 20_000
DEADLINE_S = 20
SAFE, BOLD = "nginx", "nginx:retry-non-idempotent"
HEALTHY = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"
HTML = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 6\r\n\r\n<html>"
CUT = b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{}"


class Upstream:
    """A router in miniature. `script` says what happens to its first requests: "unread", "reset", "fin", "silence", or
    the bytes of an answer; then it is healthy. All but "unread" have executed the request.
    """

    def __init__(self, *script: str | bytes) -> None:
        self.script = list(script)
        self.attempts = 0
        self.executed: list[bytes] = []

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator[Address]:
        """Its address while it serves."""
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen()
            listener.setblocking(False)
            self.tasks = [asyncio.create_task(self.accept(listener))]
            try:
                yield listener.getsockname()
            finally:
                for task in self.tasks:
                    task.cancel()
                await asyncio.gather(*self.tasks, return_exceptions=True)

    async def accept(self, listener: socket.socket) -> None:
        """Give every connection a task of its own."""
        while True:
            connection, _ = await asyncio.get_running_loop().sock_accept(listener)
            self.tasks.append(asyncio.create_task(self.serve(connection)))

    async def serve(self, connection: socket.socket) -> None:
        """One connection, with as many requests as come."""
        loop = asyncio.get_running_loop()
        with connection:
            connection.setblocking(False)
            while body := await self.body_on(connection):
                self.attempts += 1
                act = self.script.pop(0) if self.script else HEALTHY
                if act != "unread":
                    self.executed.append(body)
                if act == "silence":
                    await asyncio.Event().wait()
                if act in ("unread", "reset"):
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                if isinstance(act, str):
                    return
                await loop.sock_sendall(connection, act)
                if act == CUT:
                    return

    async def body_on(self, connection: socket.socket) -> bytes:
        """The body of the next request; empty at the end of the connection."""
        received = b""
        while not received.endswith(b"}"):
            data = await asyncio.get_running_loop().sock_recv(connection, 65536)
            if not data:
                return b""
            received += data
        return received.partition(b"\r\n\r\n")[2]


@contextlib.asynccontextmanager
async def nginx(supervisor: Supervisor, name: str, *upstreams: Address) -> AsyncIterator[ForeignInstance]:
    """A fresh nginx in front of these upstreams."""
    instance = await built_in_subject(name, supervisor).start(upstreams)
    try:
        yield instance
    finally:
        await instance.stop()


def family_of(pid: int) -> list[int]:
    """That process and its children. A master listens before it has a worker: call through it first."""
    return [pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]


async def refused_round(supervisor: Supervisor, name: str, number: int) -> tuple[object, ...]:
    """Upstream 1 of 2 refuses: what the witness, the healthy upstream and the caller saw of one operation."""
    healthy = Upstream()
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        faulty = bound.getsockname()
        async with healthy.serving() as address, nginx(supervisor, name, faulty, address) as instance:
            with DialWitness(faulty[1], refusing=True) as witness:
                outcome = await instance.call(PlannedOperation(), number, CEILING_MS)
                dials = witness.read()
    return [dial.refused for dial in dials], operations(healthy), outcome.kind, outcome.status, outcome.body


async def dropped_round(supervisor: Supervisor, name: str, number: int) -> tuple[object, ...]:
    """Upstream 1 of 2 drops the SYN: what both witnesses, the healthy upstream and the caller saw of one operation."""
    healthy = Upstream()
    with socket.socket() as full, socket.socket() as filler:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        faulty = full.getsockname()
        filler.connect(faulty)
        async with healthy.serving() as address, nginx(supervisor, name, faulty, address) as instance:
            with DialWitness(faulty[1], refusing=False) if can_watch_packets() else contextlib.nullcontext() as witness:
                outcome = await instance.call(PlannedOperation(), number, CEILING_MS)
                dials = witness.read() if witness else [False]
            drops = listener_drops(faulty[1])
    return drops, len(dials), operations(healthy), outcome.kind, outcome.status, outcome.body


def operations(upstream: Upstream) -> list[list[int]]:
    """The prompts that it has executed."""
    return [json.loads(body)["prompt"] for body in upstream.executed]


@watching
@pytest.mark.parametrize("name", [SAFE, BOLD])
async def test_every_refused_connect_has_its_witness_and_the_second_upstream_one_request(name: str) -> None:
    async with Supervisor() as supervisor:
        for number in range(1, ROUNDS + 1):
            seen = await refused_round(supervisor, name, number)
            assert seen == ([True], [prompt_tokens(number)], Kind.OK, 200, b"{}")


@pytest.mark.parametrize("name", [SAFE, BOLD])
async def test_every_dropped_syn_has_its_witness_and_the_second_upstream_one_request(name: str) -> None:
    async with Supervisor() as supervisor:
        rounds = [dropped_round(supervisor, name, number) for number in range(1, ROUNDS + 1)]
        for number, seen in enumerate(await asyncio.gather(*rounds), start=1):
            assert seen == (1, 1, [prompt_tokens(number)], Kind.OK, 200, b"{}")


@pytest.mark.parametrize(
    ("act", "safe", "bold"),  # status, attempts, executions
    [
        ("unread", (502, 1, 0), (200, 2, 1)),
        ("reset", (502, 1, 1), (200, 2, 2)),
        ("fin", (502, 1, 1), (200, 2, 2)),
        ("silence", (504, 1, 1), (200, 2, 2)),
        (b"HTTP/1.1 502 Bad\r\ncontent-length: 0\r\n\r\n", (502, 1, 1), (200, 2, 2)),
        (b"HTTP/1.1 503 Bad\r\ncontent-length: 0\r\n\r\n", (503, 1, 1), (200, 2, 2)),
        (b"HTTP/1.1 504 Bad\r\ncontent-length: 0\r\n\r\n", (504, 1, 1), (200, 2, 2)),
        (b"HTTP/1.1 500 Bad\r\ncontent-length: 0\r\n\r\n", (500, 1, 1), (500, 1, 1)),
        (b"HTTP/1.1 429 No\r\ncontent-length: 0\r\n\r\n", (429, 1, 1), (429, 1, 1)),
        (HTML, (200, 1, 1), (200, 1, 1)),
        (CUT, (200, 1, 1), (200, 1, 1)),
    ],
)
async def test_only_the_bold_variant_executes_twice_what_was_executed(
    act: str | bytes, safe: tuple[int, int, int], bold: tuple[int, int, int]
) -> None:
    seen = {}
    async with Supervisor() as supervisor:
        for name in (SAFE, BOLD):
            first, second = Upstream(act), Upstream()
            async with first.serving() as one, second.serving() as two, nginx(supervisor, name, one, two) as instance:
                outcome = await instance.call(PlannedOperation(), 7, CEILING_MS)
            both = first.attempts + second.attempts, len(first.executed) + len(second.executed)
            seen[name] = (outcome.status, *both)
            assert outcome.arrival is (Arrival.CUT if act == CUT else Arrival.WHOLE)
    assert seen == {SAFE: safe, BOLD: bold}


async def test_upstream_connections_are_kept_and_used_again() -> None:
    one, two = Upstream(), Upstream()
    async with Supervisor() as supervisor, one.serving() as first, two.serving() as second:
        async with nginx(supervisor, SAFE, first, second) as instance:
            for number in range(1, 7):
                await instance.call(PlannedOperation(), number, CEILING_MS)
            assert sockets_towards([first[1], second[1]]) == 2
        assert (one.attempts, two.attempts) == (3, 3)
        assert sockets_towards([first[1], second[1]]) == 0


async def test_a_master_that_was_killed_is_told_and_its_worker_is_ended_by_stop() -> None:
    async with Supervisor() as supervisor, nginx(supervisor, SAFE, ("127.0.0.1", 1), ("127.0.0.1", 2)) as instance:
        assert instance.process
        await instance.call(PlannedOperation(), 6, CEILING_MS)
        pidfds = [os.pidfd_open(pid) for pid in family_of(instance.process.pid)]
        assert len(pidfds) == 2
        os.kill(instance.process.pid, signal.SIGKILL)
        await asyncio.wait_for(instance.process.ended.wait(), DEADLINE_S)
        assert instance.died() == "was killed by SIGKILL"
        outcome = await instance.call(PlannedOperation(), 7, CEILING_MS)
        assert outcome.status == 502, "the worker outlives its master and goes on answering"
        await instance.stop()
        assert select.select(pidfds, [], [], 0)[0] == pidfds
        for pidfd in pidfds:
            os.close(pidfd)


def test_after_sigkill_of_our_process_no_master_worker_or_folder_is_left() -> None:
    driver = """if True:
        import asyncio
        from faults.plan import PlannedOperation
        from suites.foreign import built_in_subject
        from suites.processes import Supervisor
        async def main():
            async with Supervisor() as supervisor:
                subject = built_in_subject("nginx", supervisor)
                upstreams = [("127.0.0.1", 1), ("127.0.0.1", 2)]
                started = await asyncio.gather(*(subject.start(upstreams) for _ in range(3)))
                for instance in started:
                    await instance.call(PlannedOperation(), 1, 10_000)
                print(supervisor.pid, *(instance.process.pid for instance in started))
                print(*(instance.folder for instance in started), flush=True)
                await asyncio.Event().wait()
        asyncio.run(main())
        """
    with subprocess.Popen([sys.executable, "-c", driver], stdout=subprocess.PIPE) as killed:
        assert killed.stdout is not None
        supervisor, *masters = map(int, killed.stdout.readline().split())
        folders = killed.stdout.readline().decode().split()
        pids = [supervisor, *(pid for master in masters for pid in family_of(master))]
        assert len(pids) == 7, "three masters with one worker each"
        pidfds = [os.pidfd_open(pid) for pid in pids]
        killed.send_signal(signal.SIGKILL)
        for pidfd in pidfds:
            assert select.select([pidfd], [], [], DEADLINE_S)[0], "a process is still alive"
            os.close(pidfd)
        assert [Path(folder).exists() for folder in folders] == [False] * 3
