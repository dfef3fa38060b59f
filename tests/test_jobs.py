"""`--jobs N`: the same result as in one process, whatever becomes of the processes, and none of them left behind."""

import json
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fake_router.content import MAX_NUMBER
from retryproof.where_options import MAX_JOBS
from retryproof.workers import MOST_STARTED, NUMBERS
from retryproof.writing import NOT_FINISHED
from signoff.report import load_report
from signoff.sign_off import load_sign_off
from tests.command_process import Place, ended, left_clean, until_none_is_left, wait_for_ledger, wait_until

needs_nginx = pytest.mark.skipif(shutil.which("nginx") is None, reason="needs nginx")
CELLS = ("--only", "status/50?-*/first", "--out", "out")  # eight cells, and one that is its own
WORKER = "retryproof.worker"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A folder; afterwards no process is left in it, and no temporary file."""
    yield from left_clean(tmp_path)


def workers(place: Place) -> list[int]:
    """The pids of its worker processes."""
    return [pid for pid, command in place.processes().items() if WORKER in command]


VARIES = (
    "delay_ms",
    "stalled",
    "runs",
    "run",
    "diagram",
    "findings",
    "smallest",
)  # while this machine stalls, none is found


def same(report: Path) -> list[dict[str, Any]]:
    """The cells of that report but for what differs from run to run: numbers, delays, and how often it was made."""
    cells = json.loads(report.read_bytes())["cells"]
    return [{key: cell[key] for key in cell.keys() - {*VARIES}} for cell in cells]


def told(report: Path) -> dict[str, set[tuple[str, str]]]:
    """Which check says what of each cell."""
    return {
        cell["id"]: {(finding["check"], finding["verdict"]) for finding in cell["findings"]}
        for cell in json.loads(report.read_bytes())["cells"]
    }


@pytest.mark.alone
def test_two_processes_find_what_one_finds(place: Place) -> None:
    """Cells and drawn plans, those that fail included."""
    arguments = ("check", "reference:blanket-5xx", "--only", "[sd]*/[50]0*", "--examples", "20", "--out")
    one, two = (place.run(*arguments, f"out/{jobs}", "--jobs", jobs) for jobs in ("1", "2"))
    assert (one.code, one.err) == (two.code, two.err) == (1, "")
    reports = [next((place.path / "out" / jobs).glob("*/report.json")) for jobs in ("1", "2")]
    assert len(same(reports[0])) > 20
    assert same(reports[0]) == same(reports[1])
    assert told(reports[0]) == told(reports[1])


@needs_nginx
def test_both_sides_of_a_sign_off_go_on_side_by_side(place: Place) -> None:
    """Each has a worker of its own, at the same time; the table is that of one process."""
    arguments = ("signoff", "nginx", "nginx:retry-non-idempotent", *CELLS)
    with place.start(*arguments, "--jobs", "2") as process:
        wait_until(process, lambda: len(workers(place)) == 2)
        two = ended(process)
    one = place.run(*arguments)
    assert (one.code, one.err) == (two.code, two.err) == (1, "")
    assert _table(one.out) == _table(two.out)
    for side in ("base", "candidate"):
        reports = sorted((place.path / "out").glob(f"*/{side}/report.json"))
        assert same(reports[0]) == same(reports[1])
        assert load_report(reports[0]).subject.version.startswith("nginx version")


MIX = """\
name = "mine"
origin = "a test"
per_1000 = 1000
[faults]
500-after = 1
gone = 1
"""


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_work_lost_and_doubled_is_counted_under_the_mix_that_was_given(place: Place, jobs: str) -> None:
    """A policy that sends again after every 500 doubles the work of each operation that met one."""
    (place.path / "mine.toml").write_text(MIX.replace("gone", "refused"))
    end = place.run("signoff", "reference", "reference:blanket-5xx", *CELLS, "--jobs", jobs, "--mix", "mine.toml")
    assert end.code == 2
    assert "'refused'" in end.message()
    (place.path / "mine.toml").write_text(MIX.replace("gone = 1\n", ""))
    end = place.run("signoff", "reference", "reference:blanket-5xx", *CELLS, "--jobs", jobs, "--mix", "mine.toml")
    assert (end.code, end.err) == (1, "")
    sides = [load_report(next((place.path / "out").glob(f"*/{side}/report.json"))) for side in ("base", "candidate")]
    assert [(side.work and (side.work.mix, side.work.operations, side.work.doubled)) for side in sides] == [
        ("mine", 200, 0),
        ("mine", 200, 200),
    ]
    assert [side.loads for side in sides] == [(), ()]  # cells were chosen


def _table(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.lstrip().startswith("status/")]


def test_what_a_killed_worker_has_left_is_lived_through_in_another(place: Place) -> None:
    """Half way, by SIGKILL: the result is that of one process, and nothing of the worker is left."""
    arguments = ("check", "reference", "--only", "wait/*", "--out", "out")
    with place.start(*arguments, "--jobs", "2") as process:
        wait_for_ledger(process, place, 30)
        os.kill(workers(place)[0], signal.SIGKILL)
        end = ended(process)
    assert (end.code, end.err) == (0, "")
    found = same(place.folders()[0] / "report.json")
    whole = place.run(*arguments)
    assert whole.code == 0
    assert found == same(place.folders()[1] / "report.json")


DEADLY = """
import os, signal
import aiohttp

RETRYPROOF = {"promises": "transparent"}

class Deadly:
    def __init__(self, urls):
        self.url = urls[0]

    async def call(self, request):
        async with aiohttp.ClientSession() as session:
            async with session.post(self.url + "/v1/completions", json=request) as response:
                if response.status == 503:
                    os.kill(os.getpid(), signal.SIGKILL)
                response.raise_for_status()
                return await response.read()
"""


def test_a_plan_on_which_two_workers_die_is_unknown(place: Place) -> None:
    """With the reason; it is neither passed nor left out, and the others are judged."""
    (place.path / "deadly.py").write_text(DEADLY)
    end = place.run("check", "deadly:Deadly", "--only", "status/50[03]-before/first", "--jobs", "2", "--out", "out")
    assert end.code == 3, end
    cells = {cell.id: cell for cell in place.report().cells}
    assert cells["status/500-before/first"].verdict == "PASS"
    lost = cells["status/503-before/first"]
    assert (lost.verdict, lost.runs) == ("UNKNOWN", 0)
    assert "was killed by SIGKILL, and so did the next one" in lost.reason


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("group", [False, True])
def test_an_interrupted_command_hands_on_what_its_workers_found(place: Place, number: int, group: bool) -> None:
    """130, one message, a partial report; it makes no difference whether the whole process group was told."""
    arguments = ("check", "reference", "--depth", "core", "--jobs", "2", "--out", "out")
    with place.start(*arguments, start_new_session=True) as process:
        wait_for_ledger(process, place, 40)
        (os.killpg if group else os.kill)(process.pid, number)
        end = ended(process)
    assert (end.code, end.out) == (130, "")
    assert end.message().startswith("interrupted; ")
    report = place.report()
    assert (report.partial, bool(report.cells)) == ("interrupted", True)
    assert {cell.id for cell in report.cells if cell.runs} <= {line["cell"] for line in place.ledger()}
    assert place.processes() == {}


@needs_nginx
def test_both_sides_of_an_interrupted_sign_off_say_so(place: Place) -> None:
    """Neither blames the other: 130, and both reports are partial."""
    with place.start("signoff", "nginx", "nginx", *CELLS, "--jobs", "2", start_new_session=True) as process:
        wait_until(process, lambda: len(workers(place)) == 2)
        process.send_signal(signal.SIGINT)
        end = ended(process)
    assert (end.code, end.out) == (130, "")
    reports = list((place.path / "out").rglob("report.json"))
    assert [load_report(path).partial for path in reports] == ["interrupted"] * 2


@needs_nginx
@pytest.mark.parametrize("command", ["check", "signoff"])
def test_after_sigkill_workers_and_their_subjects_end_by_themselves(place: Place, command: str) -> None:
    """They hear it by the end of a pipe; every report says that it is not whole."""
    subjects = ("nginx", "nginx") if command == "signoff" else ("nginx",)
    with place.start(command, *subjects, "--depth", "core", "--jobs", "2", "--out", "out") as process:
        wait_until(process, lambda: any("nginx: worker" in each for each in place.processes().values()))
        process.kill()
        end = ended(process)
    assert (end.code, end.out, end.err) == (-signal.SIGKILL, "", "")
    until_none_is_left(place)
    reports = list((place.path / "out").rglob("report.json"))
    assert [load_report(path).partial for path in reports] == [NOT_FINISHED] * len(subjects)
    for path in (place.path / "out").glob("*/signoff.json"):
        found = load_sign_off(path)
        assert (found.base.partial, found.candidate.partial) == (NOT_FINISHED, NOT_FINISHED)
    (folder,) = (place.path / "tmp").iterdir()  # that of the command itself, which the next one removes
    assert [each.name for each in folder.iterdir()] == [".held"]
    shutil.rmtree(folder)


def test_one_side_that_cannot_run_ends_the_other(place: Place) -> None:
    """Exit code 4; the message is that of the side that could not."""
    (place.path / "broken.toml").write_text(BROKEN)
    end = place.run("signoff", "reference", "broken.toml", "--depth", "core", "--jobs", "2", "--out", "out")
    assert (end.code, end.out) == (4, "")
    assert "broken exited with code 7 before it was ready" in end.message()
    base = load_report(next((place.path / "out").glob("*/base/report.json")))
    assert base.partial.startswith("the other side could not go on: broken exited with code 7")


BROKEN = """\
name = "broken"
command = ["{python}", "-I", "-S", "-c", "raise SystemExit(7)"]
speaks = "openai-completions"
promises = "transparent"
upstreams = 2
connect_timeout_ms = 300
read_timeout_ms = 300
quiet_ms = 400
"""


def test_every_worker_of_a_sign_off_has_numbers_that_an_operation_can_have() -> None:
    """Two sides with as many workers as may be asked for, each started as often as can be."""
    assert (1 + 2 * MAX_JOBS * MOST_STARTED) * NUMBERS <= MAX_NUMBER
