"""The output folder: what is recorded stays recorded, whatever ends the command."""

import re
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from fake_router.entries import AnyEntry
from faults.plan import Plan
from faults.plan_json import dump_plan
from retryproof.exits import CommandError, Exit


class OutputFolder:
    """One run's folder under --out. Every write is complete or absent: files are written beside and moved in place.

    Raises CommandError (exit code 4) when the disk is full or the folder cannot be written.
    """

    @staticmethod
    def new(root: Path, name: str) -> "OutputFolder":
        """A folder that no other run has, named after the time and the subject."""
        stamp = datetime.now(tz=UTC).strftime("%Y%m%dT%H%M%S.%fZ")
        return OutputFolder(root / f"{stamp}-{re.sub(r'[^A-Za-z0-9.-]+', '-', name).strip('-')[-60:]}")

    def __init__(self, path: Path) -> None:
        self.path = path
        self._ledger_path = self.path / "ledger.jsonl"
        try:
            (self.path / "plans").mkdir(parents=True, exist_ok=True)
            self._ledger = self._ledger_path.open("wb")
        except OSError as error:
            raise _unwritable(self.path, error) from None

    def plan_path(self, id_: str) -> Path:
        """Where the plan of that cell is, or would be, written."""
        return self.path / "plans" / f"{id_.replace('/', '--')}.json"

    def add_plan(self, id_: str, plan: Plan) -> Path:
        """Write one plan; returns its path."""
        path = self.plan_path(id_)
        self.write(path, dump_plan(plan).encode())
        return path

    def add_ledger(self, id_: str, entries: tuple[AnyEntry, ...]) -> None:
        """Append one cell's ledger; every line names its cell."""
        try:
            for entry in entries:
                self._ledger.write(msgspec.json.encode({"cell": id_, "entry": entry}) + b"\n")
            self._ledger.flush()
        except OSError as error:
            raise _unwritable(self._ledger_path, error) from None

    def write(self, path: Path, data: bytes) -> None:
        """Write one file whole."""
        beside = path.with_name(f".{path.name}.part")
        try:
            with beside.open("wb") as file:
                file.write(data)
            beside.replace(path)
        except OSError as error:
            beside.unlink(missing_ok=True)
            raise _unwritable(path, error) from None

    def close(self) -> None:
        """No more ledger lines will come. Raises CommandError when the last ones cannot be written."""
        try:
            self._ledger.close()
        except OSError as error:
            raise _unwritable(self._ledger_path, error) from None


def _unwritable(path: Path, error: OSError) -> CommandError:
    return CommandError(
        f"cannot write {str(path)!r}: {error.strerror}; expected a folder with free space; "
        "free some, or name another with --out DIR. What was written before is kept.",
        Exit.COULD_NOT_RUN,
    )
