"""Ctrl-C, SIGTERM and SIGHUP, once, twice or three times: what was recorded is written, and nothing is left behind."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.coverage import Depth
from retryproof.writing import NOT_FINISHED
from signoff.report import load_report
from suites.cells import all_cells
from tests.command_process import Ended, Place, ended, wait_for_end, wait_for_ledger, wait_until

CORE = len(all_cells(Depth.CORE))
needs_nginx = pytest.mark.skipif(shutil.which("nginx") is None, reason="needs nginx")
WITH_PROCESSES = pytest.param("nginx", marks=needs_nginx)
DEAF = """\
name = "deaf"
command = ["{python}", "-I", "-S", "-c", "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"]
speaks = "openai-completions"
promises = "transparent"
connect_timeout_ms = 300
read_timeout_ms = 300
quiet_ms = 400
start_ms = 60000
"""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A folder; afterwards no process is left in it."""
    place = Place(path=tmp_path)
    yield place
    wait_for_end(place.processes())


def start(place: Place, *arguments: str) -> "subprocess.Popen[str]":
    """The command, as the leader of a process group of its own, as a shell in the foreground starts it."""
    return place.start(*arguments, "--out", "out", start_new_session=True)


def interrupted(place: Place, subject: str, number: int, *, group: bool = False, lines: int = 1) -> Ended:
    """Sent that signal after so many lines of the ledger."""
    with start(place, "check", subject, "--depth", "core") as process:
        wait_for_ledger(process, place, lines)
        (os.killpg if group else os.kill)(process.pid, number)
        return ended(process)


@pytest.mark.parametrize(
    ("subject", "number", "group"),
    [
        ("reference", signal.SIGINT, False),
        ("reference", signal.SIGINT, True),
        ("reference", signal.SIGHUP, True),
        pytest.param("nginx", signal.SIGINT, False, marks=needs_nginx),
        pytest.param("nginx", signal.SIGINT, True, marks=needs_nginx),
        pytest.param("nginx", signal.SIGTERM, False, marks=needs_nginx),
    ],
)
def test_an_interrupted_check_writes_what_it_found_and_leaves_nothing(
    place: Place, subject: str, number: int, group: bool
) -> None:
    """130; a partial report that is no PASS; every cell of it in the ledger; no process and no temporary file."""
    end = interrupted(place, subject, number, group=group, lines=40)
    assert (end.code, end.out) == (130, "")
    report = place.report()
    assert (report.partial, report.verdict in ("UNKNOWN", "FAIL")) == ("interrupted", True)
    assert end.message() == (
        f"interrupted; {len(report.cells)} of {CORE} cells are in "
        f"'{place.folders()[0].relative_to(place.path) / 'report.json'}'"
    )
    recorded = {line["cell"] for line in place.ledger()}
    assert recorded
    assert {cell.id for cell in report.cells if cell.verdict != "not_run"} <= recorded
    assert {path.stem.replace("--", "/") for path in (place.folders()[0] / "plans").iterdir()} >= recorded
    assert place.processes() == {}
    assert place.temporary() == []


def test_runs_on_a_shared_subject_are_not_lost_either(place: Place) -> None:
    """They are handed on when the instance is done with, also when that is sooner than planned."""
    with start(place, "check", "reference-server", "--only", "wait/*") as process:
        logs = (place.path / "tmp").glob  # their runs reach our own ledger only when they end
        wait_until(process, lambda: sum(log.read_text().count("asample") for log in logs("*/*/stderr")) > 20)
        process.send_signal(signal.SIGINT)
        end = ended(process)
    assert (end.code, end.out) == (130, "")
    assert place.report().partial == "interrupted"
    assert len({line["cell"] for line in place.ledger()}) >= 1
    assert (place.processes(), place.temporary()) == ({}, [])


@pytest.mark.parametrize("subject", ["reference", WITH_PROCESSES])
def test_an_interruption_before_anything_was_recorded_is_no_different(place: Place, subject: str) -> None:
    """While the first instances start."""
    end = interrupted(place, subject, signal.SIGINT, lines=0)
    assert (end.code, end.out) == (130, "")
    assert end.message().startswith("interrupted")
    assert (place.processes(), place.temporary()) == ({}, [])


@needs_nginx
def test_of_several_subjects_none_is_begun_after_an_interruption(place: Place) -> None:
    """What was examined before has its report; the rest is not begun."""
    with start(place, "check", "reference", "nginx", "reference-server", "--only", "*/reused") as process:
        wait_until(process, lambda: len(place.folders()) == 2)
        process.send_signal(signal.SIGINT)
        end = ended(process)
    assert end.code == 130
    assert end.message().startswith("interrupted")
    reports = [load_report(folder / "report.json") for folder in place.folders()]
    assert [(report.subject.name, report.partial) for report in reports] == [
        ("reference", ""),
        ("nginx", "interrupted"),
    ]
    assert [line.split()[:2] for line in end.out.splitlines()[-2:]] == [["reference", "PASS"], ["nginx", "interrupted"]]
    assert place.temporary() == []


@needs_nginx
def test_an_interrupted_replay_and_sign_off_leave_nothing(place: Place) -> None:
    """130 and one message, as for a check."""
    (place.path / "plan.json").write_text('{"schema": 1, "operations": [{"faults": ["silence-after"]}]}')
    for arguments in (
        ("replay", "plan.json", "--subject", "nginx", "--times", "500"),
        ("signoff", "nginx", "nginx", "--depth", "core", "--out", "out"),
    ):
        with place.start(*arguments) as process:
            wait_until(process, lambda: any("nginx: worker" in command for command in place.processes().values()))
            process.send_signal(signal.SIGTERM)
            end = ended(process)
        assert (end.code, end.out) == (130, "")
        assert end.message().startswith("interrupted")
        assert (place.processes(), place.temporary()) == ({}, [])


@pytest.mark.parametrize("numbers", [(signal.SIGINT, signal.SIGTERM), (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)])
def test_more_signals_are_told_or_obeyed_and_leave_nothing_either(place: Place, numbers: tuple[int, ...]) -> None:
    """A subject that does not hear SIGTERM takes two seconds to end. The second signal is told so and changes nothing;
    the third leaves at once, and the reaper ends the subjects. (Of one kind the kernel would keep only one.)
    """
    (place.path / "deaf.toml").write_text(DEAF)
    with start(place, "check", "deaf.toml", "--depth", "core") as process:
        wait_until(process, lambda: any("SIG_IGN" in command for command in place.processes().values()))
        for number in numbers:
            process.send_signal(number)
        end = ended(process)
    assert (end.code, end.out) == (130, "")
    said = [line.partition(";")[0].partition(",")[0] for line in end.err.splitlines()]
    assert said == ["retryproof: cleaning up", "retryproof: interrupted"][: 2 if len(numbers) == 2 else 1]
    wait_for_end(place.processes())
    assert place.temporary() == []


@needs_nginx
def test_after_sigkill_the_reaper_ends_every_subject_and_whole_lines_are_left(place: Place) -> None:
    """The report of its first second says that it is not whole; what was recorded is readable."""
    end = interrupted(place, "nginx", signal.SIGKILL, lines=40)
    assert (end.code, end.out, end.err) == (-signal.SIGKILL, "", "")
    wait_for_end(place.processes())
    (folder,) = place.folders()
    lines = (folder / "ledger.jsonl").read_text().splitlines()
    assert len([json.loads(line) for line in lines]) >= 40
    assert (place.report().partial, place.report().verdict) == (NOT_FINISHED, "UNKNOWN")


def test_signals_that_the_caller_ignores_stay_ignored(place: Place) -> None:
    """As of nohup: the work goes on."""
    with place.start(
        *("check", "reference", "--only", "status/50?-*", "--out", "out"),
        prefix=("sh", "-c", 'trap "" HUP; exec "$@"', "sh"),
    ) as process:
        wait_for_ledger(process, place, 1)
        process.send_signal(signal.SIGHUP)
        end = ended(process)
    assert (end.code, end.err) == (0, "")
    assert place.report().partial == ""


IN_EXEC = """
import retryproof.dispatch
from retryproof.__main__ import main
source = "import os, signal; os.kill(os.getpid(), signal.SIGINT); [None for _ in range(1_000_000)]"
retryproof.dispatch.dispatch = lambda arguments: exec(source)
main()
"""


def test_what_is_interrupted_inside_an_exec_ends_with_130_too(tmp_path: Path) -> None:
    """`python -m` ends a process in which a KeyboardInterrupt has left an exec() by the signal, caught or not."""
    (tmp_path / "interrupted.py").write_text(IN_EXEC)
    command = [sys.executable, "-m", "interrupted"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "retryproof: interrupted\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_one_that_comes_while_the_interpreter_ends_changes_nothing(number: int) -> None:
    """All has been said: the exit code is that of the work. Modules are taken down when Python has given its handlers
    back to the kernel, which ends a process by the signal.
    """
    code = f"""if True:
        import signal, sys
        from retryproof.__main__ import main
        class Last:
            def __del__(self, send=signal.raise_signal):
                send({number:d})
        last = Last()
        sys.argv = ["retryproof", "faults", "no-such-fault"]
        main()
    """
    done = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("retryproof: fault 'no-such-fault' is not in the catalogue")


def test_one_that_comes_where_nothing_can_be_raised_comes_again() -> None:
    """As in a callback of the garbage collector, in which Hypothesis spends its time when it draws."""
    code = """if True:
        import gc, signal, threading
        from retryproof.interrupts import take_over
        take_over()
        told = []
        def callback(phase, info):
            if not told:
                told.append(True)
                signal.raise_signal(signal.SIGTERM)
        gc.callbacks.append(callback)
        gc.collect()
        print("it was lost", flush=True)
        try:
            threading.Event().wait(60)
        except KeyboardInterrupt:
            print("and came")
    """
    done = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "it was lost\nand came\n", "")
