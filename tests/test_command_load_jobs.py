"""`retryproof load --jobs N`: callers in worker processes find what those of one process find."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from signoff.load_report import LoadReport
from tests.command_process import Place, ended, left_clean, wait_for_end, wait_until
from tests.test_command_load import MIX
from tests.test_jobs import WORKER, workers

SLOW = ("load", "reference", "--in-flight", "4", "--operations", "8", "--mode", "engine:2,1", "--json", "--out", "out")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A folder; afterwards no process is left in it, and no temporary file."""
    yield from left_clean(tmp_path)


def load_report(printed: str) -> LoadReport:
    """That was printed by --json."""
    return msgspec.json.decode(printed, type=LoadReport)


def shown(printed: str) -> dict[str, object]:
    """What must not depend on where callers are: what the ledgers say, and every verdict with its words."""
    report = load_report(printed)
    (step,) = report.steps
    says = [(one.check, one.verdict, one.says) for one in step.findings if one.check != "load-was-real"]
    numbers = (step.operations, step.succeeded, step.attempts, step.executions, step.struck, step.most_in_flight)
    return {"verdict": report.verdict, "strikes": step.strikes, "numbers": numbers, "says": says}


def test_two_worker_processes_find_what_one_process_finds(place: Place) -> None:
    """The same operations are struck, and run twice."""
    (place.path / "mix.toml").write_text(MIX)
    arguments = ("load", "reference:blanket-5xx", "--in-flight", "8", "--faults", "mix.toml", "--json", "--out", "out")
    one, two = (place.run(*arguments, *more) for more in ((), ("--jobs", "2")))
    assert (one.code, one.err) == (two.code, two.err) == (1, "")
    assert shown(one.out) == shown(two.out)
    assert load_report(two.out).steps[0].layout.callers == 2


def _kill_a_worker(place: Place) -> None:
    """One of two."""
    _, pid = sorted(workers(place))
    os.kill(pid, signal.SIGKILL)
    wait_for_end({pid: WORKER})


def test_a_load_whose_worker_died_begins_again_and_is_unknown_the_second_time(place: Place) -> None:
    """With the reason; nothing is judged of operations whose end nobody knows."""
    with place.start(*SLOW, "--jobs", "2") as process:
        for _ in range(2):
            wait_until(process, lambda: len(list(place.path.glob("tmp/*/*/caller-*/ready"))) == 2)
            _kill_a_worker(place)
            wait_until(process, lambda: len(list(place.path.glob("tmp/*/*/caller-*/ready"))) < 2)
        end = ended(process)
    died = "a worker process with callers was killed by SIGKILL"
    assert end.message() == f"{died}; the load of 4 in flight begins again"
    assert end.code == 3
    report = load_report(end.out)
    (says,) = [one.says for one in report.steps[0].findings if one.check == "load-was-real"]
    assert (report.verdict, report.partial) == ("UNKNOWN", "")
    assert says.startswith(died)


def test_a_load_whose_worker_died_once_is_whole(place: Place) -> None:
    """All operations are those of its second life."""
    with place.start(*SLOW, "--jobs", "2") as process:
        wait_until(process, lambda: len(list(place.path.glob("tmp/*/*/caller-*/ready"))) == 2)
        _kill_a_worker(place)
        end = ended(process)
    assert end.code == 0
    (step,) = load_report(end.out).steps
    assert (step.operations, step.succeeded, step.executions) == (8, 8, 8)


def test_ctrl_c_has_what_worker_processes_had_recorded(place: Place) -> None:
    """130, and a report that claims nothing."""
    with place.start("load", "reference", "--in-flight", "4", "--for", "10m", "--jobs", "2", "--out", "out") as process:
        wait_until(process, lambda: any(path.stat().st_size for path in place.path.glob("tmp/*/*/caller-*/records")))
        os.kill(process.pid, signal.SIGINT)
        end = ended(process)
    assert (end.code, end.message()) == (130, "interrupted")
    (folder,) = place.folders()
    report = load_report((folder / "report.json").read_text())
    (step,) = report.steps
    assert (report.partial, report.verdict) == ("interrupted", "UNKNOWN")
    assert step.succeeded > 100
    assert step.executions >= step.succeeded
