"""`--under` under pytest: without a Toxiproxy a skip says what to do, or a failure where nothing may be missing."""

import os
from pathlib import Path

import pytest

from tests.real_toxiproxy import RealToxiproxy

pytest_plugins = ["pytester"]

TESTS = """
import os, signal
from pathlib import Path
from faults.plan import Plan, PlannedOperation
from faults.toxics import Latency
from faults.under import Overlay
PLAN = Plan(operations=(PlannedOperation(),), under=(Overlay(toxic=Latency(latency_ms=5)),))

def read(path):
    try:
        return path.read_bytes()
    except OSError:  # its process has ended meanwhile
        return b""

def test_laid_over(bench):
    bench.holds(Plan(operations=(PlannedOperation(),)), "over")

def test_laid_by_the_plan(toxic_bench):
    toxic_bench.holds(PLAN, "by the plan")

def test_killed_half_way(toxic_bench):
    url = toxic_bench.driver.toxiproxy.now.client.url.encode()
    port = b"-port\\0" + url.rpartition(b":")[2] + b"\\0"
    (server,) = (path for path in Path("/proc").glob("[0-9]*/cmdline") if port in read(path))
    os.kill(int(server.parent.name), signal.SIGKILL)
    toxic_bench.holds(PLAN, "killed")
"""
BOTH = ("-k", "laid", "--under", "latency=5")
TO_DO = "run `retryproof toxiproxy install`"


@pytest.fixture(autouse=True)
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Warnings are errors, and a summary is cut alike everywhere."""
    for name in ("CI", "BUILD_NUMBER", "RETRYPROOF_NO_SKIP"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RETRYPROOF_NO_BUILD", "1")
    pytester.makepyfile(test_under=TESTS)
    pytester.makeini("[pytest]\naddopts = -p no:cacheprovider -p no:asyncio\nfilterwarnings = error\n")


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which there is none."""
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("TOXIPROXY_URL", raising=False)


def details(result: pytest.RunResult, title: str) -> str:
    """That part of the output."""
    return result.stdout.str().partition(f" {title} ")[2].partition(" short test summary ")[0]


@pytest.mark.toxiproxy
@pytest.mark.usefixtures("nowhere")
def test_without_one_what_needs_it_is_skipped(pytester: pytest.Pytester) -> None:
    """With a line that says what to do."""
    result = pytester.runpytest_subprocess("-rs", *BOTH)
    assert result.parseoutcomes() == {"skipped": 2, "deselected": 1}
    said = [line for line in result.outlines if line.startswith("SKIPPED")]
    assert len(said) == 2
    assert all("no Toxiproxy: TOXIPROXY_URL is not set, no toxiproxy-server" in line for line in said)
    assert all(TO_DO in line for line in said)


@pytest.mark.toxiproxy
@pytest.mark.usefixtures("nowhere")
def test_where_nothing_may_be_missing_it_fails(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the same words."""
    monkeypatch.setenv("RETRYPROOF_NO_SKIP", "1")
    result = pytester.runpytest_subprocess("-rE", *BOTH)
    assert result.parseoutcomes() == {"errors": 2, "deselected": 1}
    assert details(result, "ERRORS").count(TO_DO) == 2
    assert ".py" not in details(result, "ERRORS")


@pytest.mark.toxiproxy
def test_one_that_is_none_is_one_message_a_test(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever fixture wanted it; it is no skip: the user has named one."""
    monkeypatch.setenv("TOXIPROXY_URL", "http://127.0.0.1:1")
    result = pytester.runpytest_subprocess(*BOTH)
    assert result.parseoutcomes() == {"errors": 2, "deselected": 1}
    text = details(result, "ERRORS")
    assert text.count("\nToxiproxy at http://127.0.0.1:1 cannot be reached: ") == 2
    assert text.count("expected the one that TOXIPROXY_URL names: start it, or unset TOXIPROXY_URL") == 2
    assert ".py" not in text


@pytest.mark.toxiproxy
def test_one_that_is_killed_half_way_is_one_message(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, real: RealToxiproxy
) -> None:
    """How it ended, and no traceback through us."""
    monkeypatch.setenv("PATH", str(Path(str(real.server.source)).parent), prepend=os.pathsep)
    result = pytester.runpytest_subprocess("-k", "by_the_plan or killed")
    assert result.parseoutcomes() == {"passed": 1, "failed": 1, "deselected": 1}
    text = details(result, "FAILURES")
    assert text.count(" was killed by SIGKILL, half way") == 1
    assert '"level"' not in text
    assert ".py" not in text
