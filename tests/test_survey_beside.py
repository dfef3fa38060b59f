"""Configurations of a survey side by side: each a process of its own, and none of them is left behind."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from retryproof.beside import Turn, side_by_side
from retryproof.exits import Exit
from signoff.published import load_all
from tests.command_process import Place, ended, left_clean, wait_until


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A folder; afterwards no process is left in it, and no temporary file."""
    yield from left_clean(tmp_path)


def test_each_line_is_heard_and_each_exit_code_is_known() -> None:
    """Of one that is well, and of one that makes no sense."""
    lines: list[str] = []
    turns = [Turn(name="version", words=("--version",)), Turn(name="wrong", words=("survey", "no-such-subject"))]
    assert sorted(side_by_side(turns, 2, lines.append)) == [Exit.PASS, Exit.USAGE]
    assert [line.partition(" ")[0] for line in lines] == ["retryproof"]


def test_what_an_interruption_found_under_way_ends_and_what_was_finished_stays(place: Place) -> None:
    """Three, two at a time: it is interrupted when the first has its result."""
    names = ("reference:never", "reference-server", "reference-server:blanket-5xx")
    results = place.path / "results"
    with place.start("survey", *names, "--jobs", "2", "--out", "out") as process:
        wait_until(process, lambda: any(results.glob("*.json")))
        process.send_signal(signal.SIGTERM)
        told = ended(process)
    assert told.code == Exit.INTERRUPTED
    assert 0 < len(load_all(results)) < len(names)
    assert not (place.path / "docs").exists()
