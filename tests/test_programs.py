"""What a program says of its version, and what becomes of a command that fails, hangs, or leaves something behind."""

import asyncio
import os
import select
from pathlib import Path

import pytest

from suites import programs
from suites.programs import said_of_version
from tests.command_process import DEADLINE_S


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo; echo mine 1.2 >&2; echo more", "mine 1.2"),
        ("true", "unknown ('sh' wrote nothing)"),
        ("echo Traceback; echo no such package; exit 3", "unknown ('sh' exited with code 3: no such package)"),
        ("exit 1", "unknown ('sh' exited with code 1: it wrote nothing)"),
        ("echo mine 1.2; kill -9 $$", "unknown ('sh' was killed by SIGKILL: mine 1.2)"),
    ],
)
async def test_a_version_is_the_first_line_of_a_command_that_ends_well(script: str, said: str) -> None:
    """Of one that fails nothing is taken for a version: it may be the beginning of a stack trace."""
    assert await said_of_version(["sh", "-c", script]) == said


async def test_a_version_command_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """It costs its time and no more, and says so."""
    monkeypatch.setattr(programs, "VERSION_S", 0)
    assert await said_of_version(["sleep", "1000"]) == "unknown ('sleep' did not end within 0 s)"


@pytest.mark.parametrize("end", ["wait", "exit 0"])
async def test_nothing_that_a_version_command_has_started_outlives_it(tmp_path: Path, end: str) -> None:
    """However deaf it is, and whether the command ends or is ended."""
    os.mkfifo(fifo := tmp_path / "fifo")
    os.mkfifo(gate := tmp_path / "gate")
    script = f"trap '' TERM; sleep 1000 & echo $! > {fifo}; read line < {gate}; {end}"
    asking = asyncio.create_task(said_of_version(["sh", "-c", script]))
    child = os.pidfd_open(int(await asyncio.to_thread(fifo.read_text)))
    await asyncio.to_thread(gate.write_text, "go\n")
    if end == "wait":
        asking.cancel()
    await asyncio.wait([asking])
    assert asking.cancelled() is (end == "wait")
    assert select.select([child], [], [], DEADLINE_S)[0]
    os.close(child)
