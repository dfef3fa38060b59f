"""Where the programs of subjects are found, and what one says of its version."""

import asyncio
import os
import shutil
import signal
import sys
import tempfile
from asyncio.subprocess import DEVNULL, STDOUT
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from suites.ending import to_the_end
from suites.processes import how_ended

VERSION_S = 30  # an interpreter on a busy machine
_SAID: dict[tuple[str, ...], str] = {}  # by the words of a version command


def environment() -> dict[str, str]:
    """Ours, with more behind its PATH: the folder of this Python, where pip has put programs beside it, and the sbin
    beside each bin. Servers lie there, and few users have it on their PATH. Without the proxies that it names: all that
    a subject talks to is on this machine.
    """
    folders = [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if folder]
    beside = [folder.removesuffix("bin") + "sbin" for folder in folders if folder.endswith("/bin")]
    kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    return {**kept, "PATH": os.pathsep.join((*folders, str(Path(sys.executable).parent), *beside))}


def is_found(name: str) -> bool:
    """There is a program of that name, or at that path."""
    return shutil.which(name, path=environment()["PATH"]) is not None


async def said_of_version(argv: Sequence[str]) -> str:
    """The first line that a version command writes, to stdout or stderr; "unknown" and why, where it fails or writes
    none. Asked once by this process: the variants of a subject are one program, and some take seconds to say it.
    """
    asked = tuple(argv)
    if asked not in _SAID:
        try:
            _SAID[asked] = await _first_line(asked)
        except TimeoutError:
            return f"unknown ({argv[0]!r} did not end within {VERSION_S} s)"
        except OSError as error:
            return f"unknown ({error})"
    return _SAID[asked]


async def _first_line(argv: tuple[str, ...]) -> str:
    """What it wrote before it failed is no version: a stack trace would be published as one."""
    with tempfile.TemporaryFile() as said:
        process = await asyncio.create_subprocess_exec(
            *argv, stdin=DEVNULL, stdout=said, stderr=STDOUT, env=environment(), start_new_session=True
        )
        try:
            async with asyncio.timeout(VERSION_S):
                code = await process.wait()
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)  # and whatever it has started
            await to_the_end(_ended(process))
        said.seek(0)
        lines = said.read().decode(errors="replace").strip().splitlines()
    if code:
        return f"unknown ({argv[0]!r} {how_ended(code)}: {lines[-1] if lines else 'it wrote nothing'})"
    return lines[0] if lines else f"unknown ({argv[0]!r} wrote nothing)"


async def _ended(process: asyncio.subprocess.Process) -> None:
    await process.wait()
