"""No process that a supervisor has started outlives the supervisor, its driver, or the order to stop."""

import asyncio
import contextlib
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path

import pytest

from suites import processes
from suites.processes import Process, ProcessError, ReservedPort, Supervisor

DEADLINE_S = 20
OF_GLIBC = 0b11 << 31  # 32 and 33: its posix_spawn() leaves them ignored, and no program can say otherwise

# Prints its pid and those of its children, then waits. `leader` decides what becomes of the one that was started.
FAMILY = """if True:
    import os, signal, sys, time
    pids = [os.getpid()]
    def child(own_group=False, own_session=False, deaf=False):
        read, write = os.pipe()
        if pid := os.fork():
            os.close(write)
            os.read(read, 1)
            pids.append(pid)
            return
        if own_group: os.setpgid(0, 0)
        if own_session: os.setsid()
        if deaf: signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.close(write)
        while True: time.sleep(60)
    def wait():
        print(*pids, flush=True)
        while True: time.sleep(60)
"""


@contextlib.asynccontextmanager
async def family(supervisor: Supervisor, folder: Path, script: str) -> AsyncIterator[tuple[Process, list[int]]]:
    """A process that runs FAMILY and then the script, and pidfds of all that it has said to be of its family."""
    log = folder / "log"
    os.mkfifo(log)
    reader, transport = await _pipe_reader(log)
    try:
        argv = [sys.executable, "-I", "-S", "-c", FAMILY + "    " + script]
        process = await supervisor.start(argv, cwd=folder, env=os.environ, log=log)
        line = await asyncio.wait_for(reader.readline(), DEADLINE_S)
        pidfds = [os.pidfd_open(int(pid)) for pid in line.split()]
        assert pidfds, "the script said nothing"
        yield process, pidfds
        for pidfd in pidfds:
            os.close(pidfd)
    finally:
        transport.close()


async def _pipe_reader(path: Path) -> tuple[asyncio.StreamReader, asyncio.ReadTransport]:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    pipe = os.fdopen(os.open(path, os.O_RDWR | os.O_NONBLOCK), "rb", buffering=0)
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    return reader, transport


def ended(pidfds: Iterable[int]) -> list[bool]:
    """Which of them have ended by now."""
    return [bool(select.select([pidfd], [], [], 0)[0]) for pidfd in pidfds]


async def all_ended(pidfds: Sequence[int]) -> None:
    """Wait for the end of each."""
    for pidfd in pidfds:
        ready, _, _ = await asyncio.to_thread(select.select, [pidfd], [], [], DEADLINE_S)
        assert ready, "a process is still alive"


@pytest.mark.parametrize(
    ("script", "how"),
    [
        ("import sys; sys.exit(3)", "exited with code 3"),
        ("pass", "exited with code 0"),
        ("import os; os.kill(os.getpid(), 9)", "was killed by SIGKILL"),
        ("import os; os.kill(os.getpid(), 40)", "was killed by signal 40"),
    ],
)
async def test_a_process_that_ends_by_itself_says_how(tmp_path: Path, script: str, how: str) -> None:
    async with Supervisor() as supervisor:
        argv = [sys.executable, "-I", "-S", "-c", script]
        process = await supervisor.start(argv, cwd=tmp_path, env=os.environ, log=tmp_path / "log")
        await asyncio.wait_for(process.ended.wait(), DEADLINE_S)
        assert process.died() == how
        await process.stop()
        assert process.died() == how


async def test_a_stopped_process_has_not_died_and_stopping_twice_is_harmless(tmp_path: Path) -> None:
    async with Supervisor() as supervisor, family(supervisor, tmp_path, "wait()") as (process, pidfds):
        assert (process.died(), ended(pidfds)) == (None, [False])
        await asyncio.gather(process.stop(), process.stop())
        await process.stop()
        assert (process.died(), ended(pidfds)) == (None, [True])


async def test_stop_ends_children_also_in_a_group_of_their_own_and_deaf_to_sigterm(tmp_path: Path) -> None:
    script = "child(); child(own_group=True); child(deaf=True); child(own_group=True, deaf=True); wait()"
    async with Supervisor(grace_ms=50) as supervisor, family(supervisor, tmp_path, script) as (process, pidfds):
        await process.stop()
        assert ended(pidfds) == [True] * 5


async def test_stop_ends_the_orphans_of_a_leader_that_was_killed(tmp_path: Path) -> None:
    script = "child(); child(own_group=True); wait()"
    async with Supervisor() as supervisor, family(supervisor, tmp_path, script) as (process, pidfds):
        os.kill(process.pid, signal.SIGKILL)
        await asyncio.wait_for(process.ended.wait(), DEADLINE_S)
        assert (process.died(), ended(pidfds)) == ("was killed by SIGKILL", [True, False, False])
        await process.stop()
        assert ended(pidfds) == [True] * 3


async def test_stop_of_one_leaves_the_others_alone(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    async with Supervisor() as supervisor:
        one, other = family(supervisor, tmp_path / "a", "wait()"), family(supervisor, tmp_path / "b", "wait()")
        async with one as (process, _), other as (_, pidfds):
            await process.stop()
            assert ended(pidfds) == [False]


async def test_leaving_the_supervisor_ends_all_also_in_a_session_of_their_own(tmp_path: Path) -> None:
    async with contextlib.AsyncExitStack() as stack:
        async with Supervisor() as supervisor:
            script = "child(); child(own_session=True); wait()"
            process, pidfds = await stack.enter_async_context(family(supervisor, tmp_path, script))
        assert (process.died(), ended(pidfds)) == (None, [True] * 3)


async def test_a_supervisor_that_was_killed_takes_its_processes_with_it_and_says_so(tmp_path: Path) -> None:
    async with Supervisor() as supervisor, family(supervisor, tmp_path, "child(); wait()") as (process, pidfds):
        os.kill(supervisor.pid, signal.SIGKILL)
        await all_ended(pidfds)
        await asyncio.wait_for(process.ended.wait(), DEADLINE_S)
        assert process.died() == "its supervising process was ended by somebody else"
        await process.stop()
        with pytest.raises(ProcessError, match="supervising process has ended"):
            await supervisor.start(["true"], cwd=tmp_path, env=os.environ, log=tmp_path / "log2")


def test_a_killed_reaper_takes_its_subjects_with_it_also_when_its_driver_can_do_nothing(tmp_path: Path) -> None:
    argv = [sys.executable, "-I", "-S", str(Path(processes.__file__).with_name("reaper.py")), "2000"]
    order = {"order": "start", "id": 1, "argv": ["sleep", "600"], "cwd": "/", "env": {}}
    order |= {"log": str(tmp_path / "log"), "folder": None}
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as reaper:
        assert reaper.stdin
        assert reaper.stdout
        reaper.stdin.write(json.dumps(order).encode() + b"\n")
        reaper.stdin.flush()
        pidfd = os.pidfd_open(json.loads(reaper.stdout.readline())["pid"])
        reaper.kill()
        asyncio.run(all_ended([pidfd]))
        os.close(pidfd)


async def test_a_command_that_cannot_be_executed_is_told_with_its_name(tmp_path: Path) -> None:
    async with Supervisor() as supervisor:
        with pytest.raises(ProcessError, match=r"No such file.*no-such-program"):
            await supervisor.start(["no-such-program"], cwd=tmp_path, env=os.environ, log=tmp_path / "log")
        with pytest.raises(ProcessError, match=r"No such file.*nowhere"):
            await supervisor.start(["true"], cwd=tmp_path / "nowhere", env=os.environ, log=tmp_path / "log")


async def test_subject_and_supervisor_have_sessions_apart_from_the_terminals(tmp_path: Path) -> None:
    async with Supervisor() as supervisor, family(supervisor, tmp_path, "wait()") as (process, _):
        assert os.getsid(process.pid) == process.pid
        assert os.getsid(supervisor.pid) == supervisor.pid


async def test_a_subject_ignores_no_signal_that_it_has_not_chosen_to(tmp_path: Path) -> None:
    async with Supervisor() as supervisor:
        process = await supervisor.start(["cat", "/proc/self/status"], cwd=tmp_path, env={}, log=tmp_path / "log")
        await asyncio.wait_for(process.ended.wait(), DEADLINE_S)
    (ignored,) = re.findall(r"^SigIgn:\t([0-9a-f]{16})$", (tmp_path / "log").read_text(), re.MULTILINE)
    assert int(ignored, 16) & ~OF_GLIBC == 0


def test_a_process_whose_driver_was_killed_ends_with_all_its_children(tmp_path: Path) -> None:
    driver = f"""if True:
        import asyncio, os, sys
        from pathlib import Path
        from suites.processes import Supervisor
        async def main():
            async with Supervisor() as supervisor:
                argv = [sys.executable, "-I", "-S", "-c", {FAMILY + "    child(); child(own_session=True); wait()"!r}]
                await supervisor.start(argv, cwd=Path("/"), env=os.environ, log=Path("/dev/fd/2").resolve())
                print(supervisor.pid, flush=True)
                await asyncio.Event().wait()
        asyncio.run(main())
        """
    log = tmp_path / "log"
    os.mkfifo(log)
    descriptor = os.open(log, os.O_RDWR)
    with (
        subprocess.Popen(
            [sys.executable, "-c", driver.replace("/dev/fd/2", str(log))], stdout=subprocess.PIPE
        ) as killed,
        os.fdopen(descriptor, "rb", buffering=0) as said,
    ):
        assert killed.stdout is not None
        pids = [*killed.stdout.readline().split(), *said.readline().split()]
        pidfds = [os.pidfd_open(int(pid)) for pid in pids]
        assert ended(pidfds) == [False] * 4
        killed.send_signal(signal.SIGKILL)
        asyncio.run(all_ended(pidfds))
        for pidfd in pidfds:
            os.close(pidfd)


def test_a_server_can_bind_over_a_reserved_port_and_nobody_answers_before() -> None:
    port = ReservedPort()
    with socket.socket() as early:
        assert early.connect_ex(("127.0.0.1", port.number)) != 0
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", port.number))
        server.listen()
        socket.create_connection(("127.0.0.1", port.number)).close()
    port.close()
    port.close()
