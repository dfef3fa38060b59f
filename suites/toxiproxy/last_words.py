"""How a Toxiproxy server of ours ended, and what of its log says why."""

import asyncio
import json
from contextlib import suppress
from pathlib import Path

from suites.processes import Process

DEATH_S = 2.0  # how long after a lost connection its supervisor may take to tell how it ended
LAST_LINES = 3
_FATAL = ("fatal", "panic")  # a refused upstream is an "error" to it already


class Death:
    """Tells how a server of our own ended, once its supervisor knows."""

    def __init__(self, process: Process, log: Path) -> None:
        self._process = process
        self._log = log

    async def __call__(self) -> str | None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._process.ended.wait(), DEATH_S)
        how = self._process.died()
        return None if how is None else half_way(how, self._log)


def half_way(how: str, log: Path) -> str:
    """How it ended, and why, where it said so: of what it wrote only what is no news of its work; of a panic the first
    lines say most.
    """
    complaints = [line for line in _lines(log) if not _is_news(line)]
    return "\n".join((f"{how}, half way", *complaints[:LAST_LINES]))


def last_words(log: Path) -> str:
    """The last that one wrote which was never ready."""
    lines = _lines(log)
    return "The last that it wrote:\n" + "\n".join(lines[-LAST_LINES:]) if lines else "It wrote nothing."


def _is_news(line: str) -> bool:
    try:
        said = json.loads(line)
    except ValueError:
        return False
    return isinstance(said, dict) and said.get("level") not in _FATAL


def _lines(log: Path) -> list[str]:
    return log.read_bytes().decode(errors="replace").splitlines() if log.exists() else []
