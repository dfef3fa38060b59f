"""What docs/pytest.md shows does what it says there, as it stands there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from suites.callable_path import SAYABLE
from suites.marked import Marked
from suites.own_router import OwnRouter
from tests.command_process import Ended, Place, ended

PAGE = (Path(__file__).parent.parent / "docs" / "pytest.md").read_text()
FILES = {name: text for text, name in re.findall(r"```python\n(# (\S+)\n.*?)```", PAGE, re.DOTALL)}
CORE = ("--depth", "core", "--out", "out")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A folder with the files of the page."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\nfilterwarnings = error\n")
    return Place(path=tmp_path)


def run_pytest(place: Place, *arguments: str) -> Ended:
    """Of a project that has no pytest-asyncio."""
    command = (sys.executable, "-m", "pytest", "-p", "no:asyncio", "-p", "no:cacheprovider", "-q", *arguments)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(
        command,
        cwd=place.path,
        env=place.environment(),
        text=True,
        **pipes,  # type: ignore[call-overload]
    ) as process:
        return ended(process)


def test_the_naive_client_fails_and_says_why(place: Place) -> None:
    """What was done is done again, and garbage is a success."""
    end = place.run("check", "my_client:naive", *CORE)
    assert (end.code, end.err) == (1, "")
    assert {"at-most-once", "no-garbage", "safe-retry"} <= set(re.findall(r"[a-z-]+", end.out))
    assert place.report().counts["UNKNOWN"] == 0


def test_the_mended_client_passes(place: Place) -> None:
    """Also where its connections are used again."""
    end = place.run("check", "my_mended_client:Client", *CORE)
    assert (end.code, end.err) == (0, "")
    verdicts = {cell.id: cell.verdict for cell in place.report().cells}
    assert verdicts["connect/connect-refused/every-upstream"] == "PASS"
    assert verdicts["wait/reset-after/reused"] == "PASS"


def test_its_tests_end_as_it_says(place: Place) -> None:
    """The first of them fails."""
    end = run_pytest(place, "test_my_client.py")
    assert end.code == 1
    assert "FAILED test_my_client.py::test_work_that_was_done_is_not_done_again" in end.out
    assert end.out.strip().splitlines()[-1].startswith("1 failed, 2 passed")


def test_the_bench_lives_through_a_plan_of_ones_own(place: Place) -> None:
    """On a subject in Python, too."""
    for subject, code, summary in (("my_mended_client:Client", 0, "1 passed"), ("my_client:naive", 1, "1 failed")):
        end = run_pytest(place, "test_mine.py", "--subject", subject)
        assert (end.code, summary in end.out) == (code, True), end.out
    assert "retryproof replay retryproof-out/failing-plans/" in end.out


def test_everything_that_can_be_said_and_asked_is_on_the_page() -> None:
    """By its name."""
    words = set(re.findall(r"`([a-zA-Z_]+)", PAGE))
    public = {name for name in vars(OwnRouter) if name[0] != "_"}
    kept = {"marked", "threads", "router", "start", "close", "missing_strikes"}  # the plugin's affair
    assert {*SAYABLE, *Marked.__slots__, *(public - kept)} <= words
