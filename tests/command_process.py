"""The command as a process of its own, in a folder of its own: what it printed, wrote, and left behind."""

import json
import os
import select
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from signoff.report import Report, load_report

DEADLINE_S = 60
LOOK_S = 0.002  # between two looks at what gives no event: a file that grows, a process of another
COMMAND = (sys.executable, "-m", "retryproof")
SHAPES_OUTPUT = ("COLUMNS", "FORCE_COLOR", "NO_COLOR", "PYTHONIOENCODING", "PYTHONUNBUFFERED")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How it ended, and what it printed."""

    code: int
    out: str
    err: str

    def message(self) -> str:
        """Its one message on stderr: not two, and never a traceback."""
        assert self.err.startswith("retryproof: "), self.err
        assert self.err.count("retryproof: ") == 1, self.err
        assert "Traceback" not in self.err
        assert self.err.endswith("\n")
        return self.err.removeprefix("retryproof: ").strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A folder that the command runs in; its reports go to out/, temporary files to tmp/."""

    path: Path
    env: dict[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        """Of the command, and so of all that it starts: without what the machine that tests wants of output."""
        kept = {key: value for key, value in os.environ.items() if key not in SHAPES_OUTPUT}
        (self.path / "tmp").mkdir(exist_ok=True)
        return {**kept, "TMPDIR": str(self.path / "tmp"), **self.env}

    def start(self, *arguments: str, prefix: Sequence[str] = (), **options: Any) -> "subprocess.Popen[str]":
        """Start the command; stdout and stderr are pipes unless told otherwise."""
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
        return subprocess.Popen(
            (*prefix, *COMMAND, *arguments), cwd=self.path, env=self.environment(), text=True, **{**pipes, **options}
        )

    def run(self, *arguments: str, prefix: Sequence[str] = (), **options: Any) -> Ended:
        """Run the command to its end."""
        with self.start(*arguments, prefix=prefix, **options) as process:
            return ended(process)

    def folders(self) -> list[Path]:
        """One for each subject that was examined, oldest first."""
        return sorted((self.path / "out").glob("*"))

    def report(self) -> Report:
        """Of the only examination."""
        (folder,) = self.folders()
        return load_report(folder / "report.json")

    def ledger(self) -> list[dict[str, Any]]:
        """All lines of the only examination; each is whole."""
        (folder,) = self.folders()
        text = (folder / "ledger.jsonl").read_text()
        assert text == "" or text.endswith("\n")
        return [json.loads(line) for line in text.splitlines()]

    def temporary(self) -> list[str]:
        """What is left of temporary files."""
        return sorted(path.name for path in (self.path / "tmp").iterdir())

    def processes(self) -> dict[int, str]:
        """Every process whose working folder lies here: the command, and all that it started."""
        found = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal() and int(entry.name) != os.getpid():
                with suppress(OSError):
                    if str((entry / "cwd").readlink()).startswith(f"{self.path}"):
                        found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        return found


def wait_for_ledger(process: "subprocess.Popen[str]", place: Place, lines: int) -> None:
    """Until there is a ledger with so many lines."""

    def recorded() -> bool:
        ledgers = list(place.path.glob("out/*/ledger.jsonl"))
        return bool(ledgers) and sum(path.read_bytes().count(b"\n") for path in ledgers) >= lines

    wait_until(process, recorded)


def wait_until(process: "subprocess.Popen[str]", so: Callable[[], bool]) -> None:
    """Until that is so; fails when the process ends before."""
    descriptor = os.pidfd_open(process.pid)
    try:
        while not so():
            assert not select.select([descriptor], [], [], LOOK_S)[0], "it ended too early"
    finally:
        os.close(descriptor)


def ended(process: "subprocess.Popen[str]") -> Ended:
    """Wait until it has ended."""
    try:
        out, err = process.communicate(timeout=DEADLINE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return Ended(code=process.returncode, out=out or "", err=err or "")


def wait_for_end(pids: Mapping[int, str]) -> None:
    """Until none of these processes is left; fails after a deadline."""
    for pid, command in pids.items():
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            assert select.select([descriptor], [], [], DEADLINE_S)[0], f"{pid} is still there: {command}"
        finally:
            os.close(descriptor)


def until_none_is_left(place: Place) -> None:
    """Workers end first, and what they had started after them."""
    while left := place.processes():
        wait_for_end(left)


def left_clean(folder: Path) -> Iterator[Place]:
    """A place there; afterwards no process is left in it, and no temporary file."""
    place = Place(path=folder)
    yield place
    until_none_is_left(place)
    assert place.temporary() == []
