"""Every fault has a picture that says what its truth says; and the committed page is what the command writes."""

from pathlib import Path

import pytest

from faults.catalogue import CATALOGUE, DISTURBANCES, POISONS
from faults.picture import INSIDE, drawn, picture_of
from faults.steps import Step, Way
from faults.vocabulary import Phase, Replied, Sight
from retryproof.__main__ import run
from retryproof.catalogue import COMMAND, page
from retryproof.exits import Exit

PAGE = Path(__file__).parent.parent / "docs" / "catalogue.md"


@pytest.mark.parametrize("id_", CATALOGUE)
def test_a_picture_says_what_the_truth_says(id_: str) -> None:
    """EXECUTE where the work was done, bytes of a reply where there are any, and the request before both."""
    fault = CATALOGUE[id_]
    steps = picture_of(fault.act)
    assert (Step(Way.AT_ROUTER, "EXECUTE") in steps) == fault.truth.executed
    replies = [step for step in steps if step.way is Way.TO_FORWARDER and step.says.startswith(("HTTP/", "bytes "))]
    assert bool(replies) == (fault.truth.replied is not Replied.NOTHING)
    assert any("the rest is never sent" in step.says for step in steps) == (fault.truth.replied is Replied.PART)
    sent = [step.says for step in steps if step.way is Way.TO_ROUTER]
    assert ("request: head and body" in sent) or not fault.truth.received


@pytest.mark.parametrize("id_", CATALOGUE)
def test_a_picture_ends_as_its_evidence_does(id_: str) -> None:
    """What the forwarder sees last is the last thing that came."""
    fault = CATALOGUE[id_]
    came = [step.says for step in picture_of(fault.act) if step.way is Way.TO_FORWARDER]
    match fault.evidence.sight:
        case Sight.RESET | Sight.REFUSED:
            assert came[-1].startswith("RST")
        case Sight.FIN:
            assert came[-1] == "FIN"
        case Sight.STATUS | Sight.WHOLE:
            assert any(says.startswith("HTTP/1.1 ") for says in came)  # more may come behind it
        case Sight.CONNECT_TIMEOUT | Sight.POOL_WAIT:
            assert came == []
        case _:
            assert came


@pytest.mark.parametrize("id_", CATALOGUE)
def test_a_picture_fits_a_terminal_and_has_straight_sides(id_: str) -> None:
    """Plain ASCII, all lines of one width."""
    lines = drawn(CATALOGUE[id_].act)
    assert all(line.isascii() and line.isprintable() for line in lines)
    assert {len(line) for line in lines[1:-1]} == {INSIDE + 3}
    assert lines[-1].startswith("the forwarder has: ")


def test_twins_differ_in_what_the_router_does_alone() -> None:
    """Nothing else of the picture tells them apart, but for a silence or a reset that comes at another place."""
    for fault in CATALOGUE.values():
        twin = CATALOGUE[fault.twin] if fault.twin else None
        if twin is not None and type(fault.act) is type(twin.act) and fault.phase is twin.phase is not Phase.TIME:
            seen, other = ([s for s in picture_of(f.act) if s.way is not Way.AT_ROUTER] for f in (fault, twin))
            assert seen == other, fault.id


def test_the_committed_page_is_what_the_command_writes() -> None:
    """A fault that is added or changed changes the page."""
    assert PAGE.read_text() == page(), f"docs/catalogue.md is not up to date; run: {COMMAND} docs/catalogue.md"


def test_the_command_writes_the_page_or_says_why_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 4 for a place that cannot be written."""
    assert run(["faults", "--write", str(tmp_path / "page.md")]) is Exit.PASS
    assert (tmp_path / "page.md").read_text() == page()
    assert run(["faults", "--write", str(tmp_path / "no" / "page.md")]) is Exit.COULD_NOT_RUN
    assert "expected the name of a file in a folder that exists" in capsys.readouterr().err


def test_one_fault_is_explained_with_its_picture(capsys: pytest.CaptureFixture[str]) -> None:
    """And all of them are listed under their phases."""
    assert run(["faults", "body-length-reset"]) is Exit.PASS
    out = capsys.readouterr().out
    assert all(f"  {line}" in out.splitlines() for line in drawn(CATALOGUE["body-length-reset"].act))
    assert run(["faults"]) is Exit.PASS
    lines = capsys.readouterr().out.splitlines()
    places = {phase: lines.index(phase) for phase in Phase if phase in lines}
    listed = (*CATALOGUE.values(), *POISONS.values(), *DISTURBANCES.values())
    assert set(places) == {fault.phase for fault in listed}
    for fault in listed:
        (row,) = [number for number, line in enumerate(lines) if line.startswith(f"{fault.id} ")]
        assert max(place for place in places.values() if place < row) == places[fault.phase]
