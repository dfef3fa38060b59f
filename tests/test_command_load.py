"""`retryproof load` as a process: what it proves, refuses and leaves behind."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from retryproof.__main__ import run
from retryproof.exits import Exit
from signoff.load_report import LoadReport
from suites.processes import ReservedPort
from tests.command_process import Ended, Place, ended, left_clean, wait_for_end, wait_until

MIX = 'name = "one"\norigin = "a test"\nper_1000 = 1000\n[faults]\n503-after = 1\n'


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A folder; afterwards no process is left in it."""
    yield from left_clean(tmp_path)


def _load(place: Place, *arguments: str) -> Ended:
    return place.run("load", *arguments, "--out", "out")


def _report(place: Place) -> LoadReport:
    (folder,) = place.folders()
    return msgspec.json.decode((folder / "report.json").read_bytes(), type=LoadReport)


def test_the_reference_holds_as_many_as_it_is_given(place: Place) -> None:
    """Held until all of them have come, and polled for; report and page are written."""
    end = _load(place, "reference", "--in-flight", "16", "--mode", "held", "--json")
    assert (end.code, end.err) == (0, "")
    report = _report(place)
    assert msgspec.json.decode(end.out, type=LoadReport) == report
    (step,) = report.steps
    assert (step.most_waiting, step.succeeded, step.executions) == (16, 16, 16)
    assert step.counts["abandoned"] == 2  # every eighth, once
    assert (place.folders()[0] / "report.html").read_bytes().startswith(b"<!doctype html>")


def test_a_policy_that_sends_accepted_work_again_fails(place: Place) -> None:
    """By the ledgers: every operation ran twice."""
    (place.path / "mix.toml").write_text(MIX)
    end = _load(place, "reference:blanket-5xx", "--callers", "plain", "--in-flight", "4", "--faults", "mix.toml")
    assert end.code == 1
    assert "at-most-once: 16 were executed more than once (operations 1, 2, 3, 4, 5, ...)" in end.out
    assert _report(place).steps[0].strikes == {"503-after": 16}


def test_ctrl_c_leaves_no_process_and_a_report_that_claims_nothing(place: Place) -> None:
    """In the midst of a load."""
    with place.start("load", "reference", "--in-flight", "4", "--for", "10m", "--out", "out") as process:
        wait_until(process, lambda: any(path.stat().st_size for path in place.path.glob("tmp/*/load-0/*/records")))
        os.kill(process.pid, signal.SIGINT)
        end = ended(process)
    assert (end.code, end.message()) == (130, "interrupted")
    report = _report(place)
    assert (report.partial, report.verdict) == ("interrupted", "UNKNOWN")
    (step,) = report.steps
    assert step.succeeded > 100
    assert step.executions >= step.succeeded


def test_a_subject_that_is_killed_does_not_survive(place: Place) -> None:
    """What was in flight is given up, and judged."""
    with place.start("load", "reference", "--in-flight", "4", "--for", "10m", "--out", "out") as process:
        wait_until(process, lambda: bool(list(place.path.glob("tmp/*/load-0/caller-0/ready"))))
        (pid,) = [pid for pid, command in place.processes().items() if "-m forwarder" in command]
        os.kill(pid, signal.SIGKILL)
        end = ended(process)
    assert end.code == 1
    assert "survives: instance 0 was killed by SIGKILL" in end.out


def test_a_disk_on_which_there_is_no_room_is_known_before_the_work(place: Place) -> None:
    """One message, and nothing was started."""
    (place.path / "out").write_text("a file")
    end = _load(place, "reference", "--in-flight", "4")
    assert end.code == 4
    assert end.message().startswith("cannot write 'out/")


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ("reference --in-flight 0", Exit.USAGE, "expected a whole number from 1"),
        ("reference --mode engine:5", Exit.USAGE, "expected instant, held, burst or engine:CAPACITY,SECONDS"),
        ("reference --for 10", Exit.USAGE, "expected a time such as 30s, 10m or 2h"),
        ("reference --in-flight 8 --operations 4", Exit.USAGE, "4 operations, 8 in flight; expected no fewer"),
        ("reference --under down", Exit.USAGE, "expected toxics that lose nothing"),
        ("nginx --callers sdk", Exit.USAGE, "does not speak tinker; expected --callers plain"),
        ("httpx", Exit.USAGE, "is no server of its own"),
        ("reference --faults nowhere.toml", Exit.USAGE, "cannot read --faults 'nowhere.toml'"),
        ("reference --in-flight 1000000", Exit.COULD_NOT_RUN, "MiB more than are free"),
        ("reference --mode engine:1,1 --routers 2 --instances 2", Exit.USAGE, "capacity 1 behind 2 routers"),
        ("reference --in-flight 100 --routers 2", Exit.USAGE, "ask for --instances 2, or leave the number out"),
        ("http://h --listen h:1 --speaks openai-chat --promises answering --instances 2", Exit.USAGE, "runs already"),
        ("reference --faults {listener}", Exit.USAGE, "'two': none of its faults strikes an exchange"),
    ],
)
def test_what_cannot_be_is_refused_in_one_message(
    arguments: str, code: Exit, says: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """With the exit code of wrong usage, or of what could not run."""
    listener, out = tmp_path / "listener.toml", tmp_path / "out"
    listener.write_text(MIX.replace("one", "two").replace("503-after", "connect-refused"))
    words = arguments.format(listener=listener).split()
    out.mkdir()
    assert run(["load", *words, "--out", str(out), "--quiet"]) is code
    err = capsys.readouterr().err
    assert says in err
    assert err.splitlines()[-1].startswith("retryproof: ")
    assert list(out.iterdir()) == []


def test_a_subject_that_cannot_be_reached_is_said_to_be_so(place: Place) -> None:
    """Nobody listens at that URL."""
    port = ReservedPort()
    try:
        words = ["--listen", f"127.0.0.1:{port.number}", "--speaks", "openai-chat", "--promises", "transparent"]
        end = _load(place, "http://127.0.0.1:1", *words, "--quiet")
    finally:
        port.close()
    assert end.code == 4
    assert "http://127.0.0.1:1 cannot be reached" in end.err
    assert place.folders() == []


def test_a_load_that_is_killed_leaves_a_report_that_claims_nothing(tmp_path: Path) -> None:
    """From its beginning on; its temporary folder is removed by the next command."""
    place = Place(path=tmp_path)
    with place.start("load", "reference", "--in-flight", "4", "--for", "10m", "--out", "out") as process:
        wait_until(process, lambda: any(path.stat().st_size for path in place.path.glob("out/*/report.json")))
        process.kill()
        process.wait()
    report = _report(place)
    assert (report.partial, report.verdict, report.steps) == ("1 of 1 loads are to come", "UNKNOWN", [])
    wait_for_end(place.processes())
