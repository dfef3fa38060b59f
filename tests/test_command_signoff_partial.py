"""A sign-off that is not whole says why, and claims no verdict: whatever ended it."""

import json
import resource
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from retryproof.writing import NOT_FINISHED
from signoff.report import load_report
from tests.command_process import Place, ended, wait_for_end, wait_until
from tests.test_command_cannot_run import limited, write_subject

CORE = ("--depth", "core", "--out", "out")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A folder; afterwards no process is left in it."""
    place = Place(path=tmp_path)
    yield place
    wait_for_end(place.processes())


def written(place: Place) -> dict[str, Any]:
    """The only sign-off, which claims no verdict."""
    (path,) = (place.path / "out").glob("*/signoff.json")
    found: dict[str, Any] = json.loads(path.read_text())
    assert found["verdict"] == "UNPROVEN"
    assert found["matter"][0] == f"not whole: {found['partial']}"
    return found


def recorded(place: Place, side: str) -> int:
    """Lines of that side's ledger."""
    return sum(path.read_bytes().count(b"\n") for path in place.path.glob(f"out/*/{side}/ledger.jsonl"))


@pytest.mark.parametrize(
    ("side", "number", "code"),
    [("base", signal.SIGINT, 130), ("candidate", signal.SIGINT, 130), ("candidate", signal.SIGKILL, -9)],
)
def test_one_that_is_interrupted_or_killed_is_partial(place: Place, side: str, number: int, code: int) -> None:
    """Ctrl-C: it says so, and each side that was begun has its report. kill -9: it says that it never ended,
    and what a side that was over had shown.
    """
    with place.start("signoff", "reference:safe", "reference:blanket-5xx", *CORE) as process:
        wait_until(process, lambda: recorded(place, side) > 10)
        process.send_signal(number)
        end = ended(process)
    assert (end.code, end.out) == (code, "")
    found = written(place)
    if number == signal.SIGKILL:
        assert (found["exit"], found["partial"]) == (4, NOT_FINISHED)
        assert (found["base"]["partial"], found["base"]["counts"]["PASS"] > 0) == ("", True)  # which had finished
        assert found["candidate"]["partial"] == NOT_FINISHED
        return
    assert (found["exit"], found["partial"].partition(";")[0]) == (130, "interrupted")
    assert end.message().startswith("interrupted")
    assert "the sign-off so far is in 'out/" in end.message()
    (report,) = (place.path / "out").glob(f"*/{side}/report.json")
    assert load_report(report).partial == "interrupted"
    assert place.temporary() == []


@pytest.mark.parametrize("broken", ["base", "candidate"])
def test_one_of_which_a_side_cannot_run_is_partial(place: Place, broken: str) -> None:
    """Exit code 4, and why; what the other side showed is kept."""
    dead = write_subject(place, "false")
    sides = (dead, "reference") if broken == "base" else ("reference", dead)
    end = place.run("signoff", *sides, "--only", "*/healthy/first", "--out", "out")
    assert (end.code, end.out) == (4, "")
    found = written(place)
    assert (found["exit"], "mine exited with code 1" in found["partial"]) == (4, True)
    assert "mine exited with code 1" in end.message()


def test_one_that_cannot_be_written_is_not_begun(place: Place) -> None:
    (place.path / "out").write_text("a file")
    end = place.run("signoff", "reference", "reference", *CORE)
    assert (end.code, end.out) == (4, "")
    assert "cannot write 'out/" in end.message()


def test_one_that_does_not_fit_on_the_disk_is_partial(place: Place) -> None:
    """What was written first, when there was space, says that it is not whole."""
    limit = limited(resource.RLIMIT_FSIZE, 100_000)
    end = place.run("signoff", "reference", "reference", *CORE, preexec_fn=limit)
    assert (end.code, end.out) == (4, "")
    assert "cannot write 'out/" in end.message()
    assert written(place)["exit"] == 4
