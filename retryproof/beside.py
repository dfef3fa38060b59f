"""Configurations of a survey side by side, each in a process of its own: this command again, of one of them. Most of
what a configuration takes is waiting: for its quiet window, and for what starts.
"""

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from retryproof.exits import Exit
from retryproof.interrupts import cancelling
from retryproof.running import running
from suites.ending import to_the_end
from suites.together import together

_COMMAND = "retryproof.__main__:main"
_LINE_BYTES = 1 << 20

OnLine = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One configuration, and the words of the command that surveys it alone."""

    name: str
    words: tuple[str, ...]


def side_by_side(turns: Sequence[Turn], at_once: int, on_line: OnLine) -> list[Exit]:
    """The exit code of each of them, in the order in which they ended. on_line hears of each line that one prints; what
    they say to stderr is said. The last of them is 130 when this was interrupted, after all of them have ended.
    """
    codes: list[Exit] = []

    async def work() -> None:
        task = asyncio.current_task()
        assert task is not None
        left = iter(turns)
        with cancelling(task, lambda: None):
            await together(_lane(left, on_line, codes) for _ in range(at_once))

    try:
        asyncio.run(work())
    except (KeyboardInterrupt, asyncio.CancelledError):
        codes.append(Exit.INTERRUPTED)
    return codes


async def _lane(left: Iterator[Turn], on_line: OnLine, codes: list[Exit]) -> None:
    for turn in left:
        code = await _one(turn, on_line)
        codes.append(code)


async def _one(turn: Turn, on_line: OnLine) -> Exit:
    process = await asyncio.create_subprocess_exec(
        *running(_COMMAND),
        *turn.words,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=_LINE_BYTES,
        start_new_session=True,  # a Ctrl-C at the terminal is its parent's to handle
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        async for line in process.stdout:
            on_line(line.decode("utf-8", "replace").rstrip("\n"))
        return _code(await process.wait())
    finally:
        process.stdin.close()  # its order to end, if it has not
        await to_the_end(_ended(process))


async def _ended(process: asyncio.subprocess.Process) -> None:
    await process.wait()


def _code(returned: int) -> Exit:
    """One that a signal has ended, or whose word is none of ours, could not run."""
    return Exit(returned) if returned in set(Exit) else Exit.COULD_NOT_RUN


def end_with_parent() -> None:
    """From now on the end of stdin, whatever has ended the parent, interrupts this process."""

    def watch() -> None:
        os.read(0, 1)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="stdin", daemon=True).start()
