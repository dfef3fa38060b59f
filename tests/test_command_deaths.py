"""A subject that a fault kills: FAIL when it dies again alone, UNKNOWN when it does not."""

from pathlib import Path

import pytest

from tests.command_process import Ended, Place, wait_for_end
from tests.weak_forwarder import write_weak_forwarder


def check(folder: Path, dies: str, *only: str) -> tuple[Place, Ended]:
    """One examination of the weak forwarder."""
    place = Place(path=folder)
    return place, place.run("check", write_weak_forwarder(folder, dies), "--only", *only, "--out", "out")


def test_a_subject_that_dies_of_a_fault_again_when_alone_fails(tmp_path: Path) -> None:
    """Exit code 1, with the check, the way it died, and a plan that kills it once more."""
    place, ended = check(tmp_path, "always", "status/500-before/first")
    assert (ended.code, ended.err) == (1, "")
    (cell,) = place.report().cells
    assert (cell.verdict, "survives" in {finding.check for finding in cell.findings}) == ("FAIL", True)
    assert "FAIL weak (" in ended.out
    assert "The subject outlives every fault." in ended.out
    assert "exited with code 7" in ended.out
    (plan,) = (place.folders()[0] / "plans").iterdir()
    again = place.run("replay", str(plan), "--subject", "weak.toml")
    assert (again.code, again.err) == (1, "")
    assert "must survives: FAIL: the subject's process ended by itself: exited with code 7" in again.out
    wait_for_end(place.processes())
    assert place.temporary() == []


def test_a_subject_that_died_and_does_not_when_alone_proves_nothing(tmp_path: Path) -> None:
    """Exit code 3; both records are shown."""
    place, ended = check(tmp_path, "once", "status/500-before/first")
    assert (ended.code, ended.err) == (3, "")
    (cell,) = place.report().cells
    assert cell.verdict == "UNKNOWN"
    says = {finding.check: finding.says for finding in cell.findings}
    assert "exited with code 7" in says["survives"]
    assert "alone it did not come back" in says["survives"]
    assert "UNKNOWN" in ended.out


@pytest.mark.parametrize("dies", ["always", "once"])
def test_a_fault_that_does_not_kill_it_is_judged_as_ever(tmp_path: Path, dies: str) -> None:
    """The forwarder is sound where nothing kills it."""
    place, ended = check(tmp_path, dies, "status/502-*/first")
    assert (ended.code, ended.err) == (0, "")
    assert {cell.verdict for cell in place.report().cells} == {"PASS"}
