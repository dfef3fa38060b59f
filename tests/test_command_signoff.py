"""A change of retry policy: what blocks, what only warns, in both directions, and its exit codes."""

import json
import re
from pathlib import Path

import pytest

from retryproof.sign_off_folder import SIDES
from signoff.report import load_report
from tests.command_process import Ended, Place

CELLS = ("--depth", "core", "--only", "[cs]*/[5cs]*/*", "--out", "out")  # no connection, and every 5xx


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """One folder for all: each sign-off has folders of its own in it."""
    return Place(path=tmp_path_factory.mktemp("signoff"), env={"COLUMNS": "100"})


def sign_off(place: Place, base: str, candidate: str, *more: str) -> Ended:
    """One sign-off, without an error."""
    ended = place.run("signoff", base, candidate, *CELLS, *more)
    assert ended.err == ""
    return ended


def groups(ended: Ended) -> dict[str, set[str]]:
    """The change of each group, with the cells in it."""
    found: dict[str, set[str]] = {}
    for line in ended.out.splitlines()[1:]:
        if heading := re.match(r"([A-Z]+(?: [A-Z]+)*) .*: \d+ cells?$", line):
            cells = found.setdefault(heading[1], set())
        elif re.match(r"  \w+/", line):
            cells.add(line.split()[0])
    return found


SERVER_ERRORS = {f"status/{status}-{side}/first" for status in (500, 502, 503, 504) for side in ("before", "after")}


def test_a_blanket_retry_blocks(place: Place) -> None:
    """Every 5xx, before and after EXECUTE alike; the first line says so, the cells say why."""
    ended = sign_off(place, "reference:safe", "reference:blanket-5xx")
    assert ended.code == 1
    assert ended.out.startswith("BLOCK reference:safe -> reference:blanket-5xx: 8 regressed, 0 still broken, 0 fixed, ")
    assert groups(ended) == {"REGRESSED": SERVER_ERRORS}
    assert "  e.g.  at-most-once, safe-retry: operation" in ended.out


def test_its_reverse_may_ship(place: Place) -> None:
    """The same cells are fixed."""
    ended = sign_off(place, "reference:blanket-5xx", "reference:safe")
    assert ended.code == 0
    assert ended.out.startswith(
        "MAY SHIP reference:blanket-5xx -> reference:safe: 0 regressed, 0 still broken, 8 fixed"
    )
    assert groups(ended) == {"FIXED": SERVER_ERRORS}


@pytest.mark.parametrize(
    ("base", "candidate", "lost"),
    [("reference:safe", "reference:never", "WEAKER"), ("reference:never", "reference:safe", "STRONGER")],
)
def test_safe_retries_lost_or_won_block_nothing(place: Place, base: str, candidate: str, lost: str) -> None:
    """A caller who gets a result where there was none before is better off; the reverse is listed as weaker."""
    ended = sign_off(place, base, candidate)
    assert ended.code == 0
    assert ended.out.startswith(f"MAY SHIP {base} -> {candidate}: 0 regressed")
    assert "status/503-no-workers/first" in groups(ended)[lost]
    assert not groups(ended).keys() - {"WEAKER", "STRONGER"}


def test_what_is_still_broken_blocks_only_under_strict(place: Place) -> None:
    """It was no better before; and --quiet prints nothing of it."""
    sides = ("reference:blanket-5xx", "reference:blanket-5xx")
    mild, strict = sign_off(place, *sides), sign_off(place, *sides, "--strict", "--quiet")
    assert (mild.code, strict.code, strict.out) == (0, 1, "")
    assert mild.out.startswith("MAY SHIP")
    assert groups(mild) == {"STILL BROKEN": SERVER_ERRORS}


def test_what_one_side_cannot_reach_is_unproven(place: Place) -> None:
    """Exit code 3, with the reason; nothing else can have been compared."""
    text = (Path(__file__).parent.parent / "suites" / "subjects" / "reference-server.toml").read_text()
    text += '[reach]\n"500-after" = "its front end swallows 500"\n'
    (place.path / "front.toml").write_text(text)
    ended = place.run("signoff", "reference-server", "front.toml", "--only", "status/500-after/first", "--out", "out")
    assert (ended.code, ended.err) == (3, "")
    assert ended.out.startswith("UNPROVEN reference-server -> front.toml: ")
    assert "candidate was not run: its front end swallows 500" in " ".join(ended.out.split())


def test_both_sides_lived_through_the_same_drawn_plans(place: Place) -> None:
    """The seed draws them, whoever is examined."""
    before = set(place.folders())
    ended = place.run(
        *("signoff", "reference", "reference:never", "--only", "drawn/*", "--examples", "12"),
        *("--seed", "3", "--out", "out"),
    )
    assert (ended.code, ended.err) == (0, "")
    (folder,) = set(place.folders()) - before
    sides = [load_report(folder / side / "report.json") for side in SIDES]
    plans = [[json.dumps(cell.plan) for cell in side.cells] for side in sides]
    assert len(plans[0]) == 12
    assert plans[0] == plans[1]
