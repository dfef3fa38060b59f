"""`--under` from a command: the verdicts of a direct way, failures that replay by themselves, and errors."""

import json
from pathlib import Path

import pytest

from faults.plan_json import load_plan
from tests.command_process import Place

pytestmark = pytest.mark.toxiproxy

CELLS = ("--depth", "core", "--only", "status/50[02]*/*", "--out", "out")


@pytest.fixture
def place(tmp_path: Path, _server: object) -> Place:
    """A folder, and a Toxiproxy that is there by now."""
    return Place(path=tmp_path, env={"COLUMNS": "100"})


def failed(place: Place) -> dict[str, set[str]]:
    """The cells of the last report that failed, and which musts they broke."""
    report = json.loads(max((place.path / "out").glob("*/report.json")).read_text())
    return {
        cell["id"]: {one["check"] for one in cell["findings"] if one["verdict"] == "FAIL"}
        for cell in report["cells"]
        if cell["verdict"] == "FAIL"
    }


def test_the_same_musts_are_broken_as_without(place: Place) -> None:
    """By a blanket retry; and the plan of such a failure fails again, behind a Toxiproxy that replay starts itself."""
    assert place.run("check", "reference:blanket-5xx", *CELLS).code == 1
    direct = failed(place)
    assert place.run("check", "reference:blanket-5xx", "--under", "latency=20", *CELLS).code == 1
    assert failed(place) == direct != {}
    plan = next(max((place.path / "out").iterdir()).glob("plans/status--500-after*"))
    assert json.loads(plan.read_text())["under"] == [
        {"toxic": "latency", "direction": "downstream", "hop": "router", "latency_ms": 20, "jitter_ms": 0}
    ]
    again = place.run("replay", str(plan), "--subject", "reference:blanket-5xx")
    assert again.code == 1
    assert "at-most-once: FAIL" in again.out


def test_both_sides_of_a_sign_off_are_under_it(place: Place) -> None:
    """What blocks without it blocks with it."""
    ended = place.run("signoff", "reference:safe", "reference:blanket-5xx", "--under", "latency=10,jitter=5", *CELLS)
    assert (ended.code, ended.err) == (1, "")
    assert "REGRESSED" in ended.out


def test_drawn_plans_draw_toxics_where_that_is_asked_for(place: Place) -> None:
    """Over the plan or as its fault; the reference passes them as it passes all others."""
    ended = place.run("check", "reference", "--only", "drawn/*", "--examples", "12", "--draw-toxics", "--out", "out")
    assert (ended.code, ended.err) == (0, "")
    drawn = [load_plan(plan.read_text()) for plan in (place.path / "out").glob("*/plans/drawn--*")]
    assert len(drawn) == 12
    assert any(plan.under for plan in drawn)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("http://127.0.0.1:1", "cannot be reached"),
        ("toxiproxy", "is no URL of Toxiproxy's API; expected http://HOST:PORT"),
    ],
)
def test_a_toxiproxy_that_is_none_is_one_message(place: Place, url: str, says: str) -> None:
    """Exit code 4, before anything is examined."""
    wrong = Place(path=place.path, env={**place.env, "TOXIPROXY_URL": url})
    ended = wrong.run("check", "reference", "--under", "down", "--out", "out")
    assert ended.code == 4
    assert says in ended.err
    assert ended.err.count("\n") == 1


def test_without_one_it_says_how_to_get_one(place: Place, tmp_path: Path) -> None:
    """Nothing is skipped silently: exit code 4."""
    nowhere = {**place.env, "PATH": "/nowhere", "XDG_CACHE_HOME": str(tmp_path), "TOXIPROXY_URL": ""}
    ended = Place(path=place.path, env=nowhere).run("check", "reference", "--under", "latency=20", *CELLS)
    assert ended.code == 4
    assert "run `retryproof toxiproxy install`" in ended.err
