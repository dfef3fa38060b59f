"""Docker Compose as a program: which one there is, and what it is told. `docker compose` and docker-compose 1.29."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from suites.processes import ProcessError, Supervisor, how_ended
from suites.stacks.errors import StackError

_NEWER = "compose"  # a plugin of the program `docker`
_VERSION_S = 20
_LAST_WORDS_BYTES = 2_000
_LOOK_S = 0.2  # between two looks at what it writes
INSTALL = "install it: Debian's docker-compose, or the plugin docker-compose-plugin of Docker's own packages"

Told = Callable[[str], None]  # hears of each line that it writes


@dataclass(frozen=True, slots=True, kw_only=True)
class Composer:
    """A Docker Compose, of either kind. command: how it is called."""

    command: tuple[str, ...]

    @staticmethod
    def find() -> "Composer":
        """The one there is, the newer kind first. Raises StackError."""
        for command in (("docker", _NEWER), ("docker-compose",)):
            if shutil.which(command[0]) and _answers(command):
                return Composer(command=command)
        raise StackError(f"no Docker Compose: neither `docker compose` nor docker-compose answers; {INSTALL}")

    def words(self, path: Path, project: str, *order: str, folder: Path | None = None) -> list[str]:
        """The whole command. folder: what its paths are relative to, if not that of the file."""
        within = [] if folder is None else ["--project-directory", str(folder)]
        return [*self.command, "-p", project, "-f", str(path), *within, *order]

    def build_words(self, path: Path, project: str) -> list[str]:
        """That which builds its images. The older kind leaves the container of a step that fails, unless it is told."""
        tidily = () if self.command[-1] == _NEWER else ("--force-rm",)
        return self.words(path, project, "build", *tidily)

    async def run(
        self,
        supervisor: Supervisor,
        words: Sequence[str],
        *,
        log: Path,
        env: Mapping[str, str],
        on_line: Told = lambda _line: None,
    ) -> None:
        """Do it; `log` gets what it writes. Raises StackError, with the last of it, where it fails."""
        plain = {"COMPOSE_ANSI": "never", "BUILDKIT_PROGRESS": "plain"}
        try:
            process = await supervisor.start(words, cwd=log.parent, env={**os.environ, **plain, **env}, log=log)
        except ProcessError as error:
            raise StackError(f"{words[0]!r} did not start: {error}") from None
        try:
            shown = 0
            while not process.ended.is_set():
                with suppress(TimeoutError):
                    await asyncio.wait_for(process.ended.wait(), _LOOK_S)
                shown = _tell(log, shown, on_line)
            _tell(log, shown, on_line)  # it may have ended before it was looked at
        finally:
            how = process.died()
            await process.stop()
        if how != how_ended(0):
            raise StackError(f"`{' '.join(words)}` {how}; expected that it succeeds. {_last_of(log)}")


def _tell(log: Path, shown: int, on_line: Told) -> int:
    """The last line that is new."""
    text = _written(log)
    lines = text[shown:].decode(errors="replace").strip().splitlines()
    if lines:
        on_line(lines[-1])
    return len(text)


def _last_of(log: Path) -> str:
    """What it wrote, each line once: it writes a line of progress anew, and an error for each of whom it concerns."""
    if shutil.disk_usage(log.parent).free == 0:
        return f"No space is left in {str(log.parent)!r}: free some, or name another folder in TMPDIR"
    text = _written(log)[-_LAST_WORDS_BYTES:].decode(errors="replace")
    lines = dict.fromkeys(line.strip() for line in text.splitlines() if line.strip())
    return "\n".join(("The last that it wrote:", *lines))


def _written(log: Path) -> bytes:
    return log.read_bytes() if log.exists() else b""


def _answers(command: Sequence[str]) -> bool:
    try:
        done = subprocess.run(
            [*command, "version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=_VERSION_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
