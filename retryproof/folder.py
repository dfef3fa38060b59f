"""The output folder: what is recorded stays recorded, whatever ends the command."""

import contextlib
import os
import re
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from fake_router.entries import AnyEntry
from faults.plan import Plan
from faults.plan_json import dump_plan
from retryproof.exits import CommandError, Exit
from signoff.cell_words import plan_file
from suites.futures.script import Script, dump_script
from suites.printable import printable_json


class OutputFolder:
    """One run's folder under --out. Every write is complete or absent: files are written beside and moved in place,
    and of a ledger that no longer fits, no broken line stays.

    Raises CommandError (exit code 4) when the disk is full or the folder cannot be written.
    """

    @staticmethod
    def new(root: Path, name: str) -> "OutputFolder":
        """A folder that no other run has, named after the time and the subject."""
        return OutputFolder(root / stamped(name))

    def __init__(self, path: Path) -> None:
        self.path = path
        self._ledger_path = self.path / "ledger.jsonl"
        try:
            (self.path / "plans").mkdir(parents=True)
            self._ledger = os.open(self._ledger_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise _unwritable(self.path, error) from None
        self._written = 0

    def plan_path(self, id_: str) -> Path:
        """Where the plan of that cell is, or would be, written."""
        return self.path / "plans" / plan_file(id_)

    def add_plan(self, id_: str, plan: Plan) -> Path:
        """Write one plan; returns its path."""
        path = self.plan_path(id_)
        self.write(path, dump_plan(plan).encode())
        return path

    def add_script(self, id_: str, script: Script) -> Path:
        """Write one script of futures, beside the plans; returns its path."""
        path = self.plan_path(id_)
        self.write(path, dump_script(script).encode())
        return path

    def add_ledger(self, id_: str, run: int, entries: tuple[AnyEntry, ...]) -> None:
        """Append one run's ledger, all of it or nothing; every line names its cell, and which of its runs it is."""
        written = (msgspec.json.encode({"cell": id_, "run": run, "entry": entry}) for entry in entries)
        lines = b"".join(printable_json(line) + b"\n" for line in written)
        try:
            _write_all(self._ledger, lines)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._ledger, self._written)
            raise _unwritable(self._ledger_path, error) from None
        self._written += len(lines)

    def write(self, path: Path, data: bytes) -> None:
        """Write one file whole."""
        write_whole(path, data)

    def close(self) -> None:
        """No more ledger lines will come. Raises CommandError when the last ones cannot be written."""
        try:
            os.close(self._ledger)
        except OSError as error:
            raise _unwritable(self._ledger_path, error) from None


def stamped(name: str) -> str:
    """The name of a folder that no other run has: the time, and whom it is about."""
    stamp = datetime.now(tz=UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    return f"{stamp}-{re.sub(r'[^A-Za-z0-9.-]+', '-', name).strip('-')[-60:]}"


def write_whole(path: Path, data: bytes) -> None:
    """Write one file, complete or not at all, with the folders above it. Raises CommandError (exit code 4)."""
    beside = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("wb") as file:
            file.write(data)
        beside.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
        raise _unwritable(path, error) from None


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _unwritable(path: Path, error: OSError) -> CommandError:
    return CommandError(
        f"cannot write {str(path)!r}: {error.strerror}; expected a folder with free space that this user may write. "
        "Free some, or name another with --out DIR. What was written before is kept.",
        Exit.COULD_NOT_RUN,
    )
