"""A plan that failed fails again, every time; a replay shows both sides and ends with the verdict's exit code."""

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.command_process import Place
from tests.weak_forwarder import write_weak_forwarder

TIMES = 3
needs_nginx = pytest.mark.skipif(shutil.which("nginx") is None, reason="needs nginx")
SUBJECTS = {
    "reference:blanket-5xx": ("status/50[04]-after/first", 2),
    "nginx:retry-non-idempotent": ("wait/[rs]*-after/reused", 2),
}


@pytest.mark.parametrize(
    "subject", ["reference:blanket-5xx", pytest.param("nginx:retry-non-idempotent", marks=needs_nginx)]
)
def test_the_plan_of_every_failure_fails_again_every_time(tmp_path: Path, subject: str) -> None:
    """The same verdict for the same checks, on a fresh subject each time."""
    place = Place(path=tmp_path)
    only, count = SUBJECTS[subject]
    assert place.run("check", subject, "--only", only, "--out", "out", "--quiet").code == 1
    failed = [cell for cell in place.report().cells if cell.verdict == "FAIL"]
    assert len(failed) == count
    for cell in failed:
        plan = place.folders()[0] / "plans" / f"{cell.id.replace('/', '--')}.json"
        again = place.run("replay", str(plan), "--subject", subject, "--times", str(TIMES))
        assert (again.code, again.err) == (1, "")
        assert f"{TIMES} replays: {TIMES} FAIL" in again.out
        broken = set(re.findall(r"^must (\S+): FAIL", again.out, re.MULTILINE))
        assert broken == {finding.check for finding in cell.findings if finding.verdict == "FAIL"}
        assert place.temporary() == []


def write_plan(folder: Path, *faults: str, **keys: object) -> str:
    """A plan of one operation; returns its file."""
    operation = {"faults": list(faults), **keys}
    (folder / "plan.json").write_text(json.dumps({"schema": 1, "operations": [operation]}))
    return "plan.json"


def test_a_replay_shows_both_sides_to_the_end(tmp_path: Path) -> None:
    """Caller and router by the clock, the check after healing included, and what the caller was told."""
    ended = Place(path=tmp_path).run("replay", write_plan(tmp_path, "503-after"))
    assert (ended.code, ended.err) == (0, "")
    text = re.sub(r"operation \d+", "operation N", " ".join(ended.out.split()))
    events = [
        "-- armed --",
        "operation N ->",
        "exchange 1: operation N received on upstream 0",
        "EXECUTED (execution 1)",
        "strike: 503-after on upstream 0",
        "operation N: unknown (returned)",
        "-- healed --",
        "operation N -> ",
        "exchange 2: operation N received",
        "operation N: ok (returned)",
        "told operation N: MayHaveRunError: may have run (1 attempt): 503 from",
    ]
    place = 0
    for event in events:
        place = text.find(event, place) + 1
        assert place > 0, event
    assert text.endswith(" PASS")


@pytest.mark.parametrize(
    ("subject", "faults", "code"),
    [("reference", ("500-after",), 0), ("reference:blanket-5xx", ("500-after",), 1), ("reference", ("healthy",), 0)],
)
def test_the_exit_code_is_that_of_the_worst_replay(
    tmp_path: Path, subject: str, faults: tuple[str, ...], code: int
) -> None:
    """And --quiet prints nothing of it."""
    ended = Place(path=tmp_path).run(
        *("replay", write_plan(tmp_path, *faults), "--subject", subject, "--times", "2", "--quiet")
    )
    assert (ended.code, ended.out, ended.err) == (code, "", "")


def test_what_the_subject_cannot_reach_proves_nothing(tmp_path: Path) -> None:
    """Exit code 3, with the reason."""
    ended = Place(path=tmp_path).run("replay", write_plan(tmp_path, "reset-after", segments=2))
    assert (ended.code, ended.out) == (3, "")
    assert "cannot be run on reference: called in its caller's process" in ended.message()


@pytest.mark.parametrize(
    ("subject", "twin", "code"),
    [("reference", "503-before", 0), ("weak.toml", "503-before", 1), ("weak.toml", "healthy", 0)],
)
def test_twins_are_replayed_together_and_held_against_each_other(
    tmp_path: Path, subject: str, twin: str, code: int
) -> None:
    """A forwarder that answers otherwise to the same bytes breaks a must that neither plan shows alone."""
    write_weak_forwarder(tmp_path, "alternately")
    plan = write_plan(tmp_path, "503-after")
    (tmp_path / "twin.json").write_text((tmp_path / plan).read_text().replace("503-after", twin))
    ended = Place(path=tmp_path).run("replay", plan, "--twin", "twin.json", "--subject", subject)
    assert (ended.code, ended.err) == (code, "")
    assert ("must twins: FAIL" in ended.out) == (code == 1)
