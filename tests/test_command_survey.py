"""`retryproof survey`: it goes on after whatever a subject does, and where it was; and it compares."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from faults.coverage import Depth
from retryproof import campaign, surveying
from retryproof.__main__ import run
from retryproof.examine import within
from retryproof.exits import CommandError, Exit
from signoff.items import Item
from signoff.published import load_all
from signoff.report import CellReport, Report
from suites.cells import all_cells
from tests.literal_reports import OPEN, RETRIED, broken, cell, literal_report

FACTS = 'speaks = "openai-completions"\npromises = "transparent"\nconnect_timeout_ms = 300\nread_timeout_ms = 300\n'
MISSING = f'name = "mine"\nquiet_ms = 1\ncommand = ["no-such-program"]\ninstall = "brew install it"\n{FACTS}'
DIES = f'name = "mine"\ncommand = ["false"]\nquiet_ms = 1\n{FACTS}'
Examined = Callable[[str, tuple[Item, ...]], tuple[CellReport, ...]]
CORE = len(all_cells(Depth.CORE))
UNPROVED = cell(verdict="UNKNOWN", findings=(OPEN,), reason="nobody counted")
HEALTHY = cell(id="none/healthy/first")
UNREACHED = cell(id="reuse/503-before", verdict="not_run", reason="no pool")


class Surveys:
    """Surveys into one folder, of subjects whose cells go as `goes` says."""

    def __init__(self, folder: Path, goes: Examined) -> None:
        self.folder = folder
        self.goes = goes
        self.examined: list[tuple[str, int]] = []

    def examine(self, name: str, items: tuple[Item, ...], *_: object) -> SimpleNamespace:
        """In place of examine_subject."""
        self.examined.append((name, len(items)))
        return SimpleNamespace(report=self._report(self.goes(name, items)))

    def _report(self, cells: tuple[CellReport, ...]) -> Report:
        return literal_report(*cells)

    def run(self, *words: str) -> Exit:
        """The command with these words."""
        where = {"--results": "results", "--docs": "docs", "--out": "out"}
        folders = [word for option, name in where.items() for word in (option, str(self.folder / name))]
        return run(["survey", *words, *folders])

    @property
    def written(self) -> list[str]:
        """The names of all files, those that were begun included."""
        return sorted(path.name for path in self.folder.rglob("*") if path.is_file())


@pytest.fixture
def surveys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Surveys:
    """All of whose cells hold."""
    made = Surveys(tmp_path, lambda _name, _items: (cell(),))
    monkeypatch.setattr(surveying, "examine_subject", lambda *words: made.examine(*words))
    return made


PAGES = ["who-retries-what.html", "who-retries-what.md"]


def test_what_cannot_run_is_named_once_and_the_others_are_surveyed(
    surveys: Surveys, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that is missing, with its install line; one that dies; and one that is well."""
    for name, text in (("missing", MISSING), ("dies", DIES)):
        (surveys.folder / f"{name}.toml").write_text(text)
    files = [str(surveys.folder / f"{name}.toml") for name in ("missing", "dies")]
    assert surveys.run(*files, "reference") is Exit.COULD_NOT_RUN
    told = capsys.readouterr()
    errors = told.err.splitlines()
    assert len(errors) == 2
    assert "mine: no 'no-such-program' on PATH; install it: brew install it" in errors[0]
    assert "mine exited with code 1" in errors[1]
    assert "before it was ready" in errors[1]
    assert "1 of 3 configurations" in told.out
    assert surveys.examined == [("reference", CORE)]
    assert [name for name in surveys.written if name not in ("missing.toml", "dies.toml")] == [
        "reference-0.1.0.json",
        *PAGES,
    ]


def test_a_survey_goes_on_where_it_was(surveys: Surveys, capsys: pytest.CaptureFixture[str]) -> None:
    """What was finished stays, what was not is made; of all that is up to date nothing is made but by --again."""

    def interrupted(name: str, _items: tuple[Item, ...]) -> tuple[CellReport, ...]:
        if name == "reference:safe":
            raise CommandError("interrupted", Exit.INTERRUPTED)
        return (cell(),)

    whole, surveys.goes = surveys.goes, interrupted
    names = ("reference", "reference:safe", "reference:never")
    assert surveys.run(*names) is Exit.INTERRUPTED
    assert surveys.written == ["reference-0.1.0.json"]
    surveys.goes = whole
    surveys.examined.clear()
    assert surveys.run(*names) is Exit.PASS
    assert [name for name, _ in surveys.examined] == ["reference:safe", "reference:never"]
    assert "[1/3] reference 0.1.0: up to date" in capsys.readouterr().out
    surveys.examined.clear()
    assert surveys.run("reference", "--again") is Exit.PASS
    assert surveys.examined == [("reference", CORE)]


@pytest.mark.parametrize("key", ["configuration", "plans"])
def test_a_result_of_another_configuration_or_of_other_plans_is_made_again(surveys: Surveys, key: str) -> None:
    """A file that says so is not up to date."""
    assert surveys.run("reference") is Exit.PASS
    path = surveys.folder / "results" / "reference-0.1.0.json"
    data = msgspec.json.decode(path.read_bytes())
    path.write_bytes(msgspec.json.encode({**data, key: "another"}))
    assert surveys.run("reference") is Exit.PASS
    assert [name for name, _ in surveys.examined] == ["reference", "reference"]
    assert msgspec.json.decode(path.read_bytes()) == data


def test_another_version_is_said_and_published_beside(surveys: Surveys, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing of the other one changes."""
    assert surveys.run("reference") is Exit.PASS
    path = surveys.folder / "results" / "reference-0.1.0.json"
    older = path.with_name("reference-0.0.9.json")
    older.write_bytes(path.read_bytes().replace(b'"version": "0.1.0"', b'"version": "0.0.9"'))
    path.unlink()
    before = older.read_bytes()
    capsys.readouterr()
    assert surveys.run("reference") is Exit.PASS
    said = "retryproof: reference: here is version 0.1.0; published is another one: reference-0.0.9.json\n"
    assert capsys.readouterr().err == said
    assert older.read_bytes() == before
    assert [one.version for one in load_all(path.parent)] == ["0.0.9", "0.1.0"]


def test_what_proved_nothing_is_lived_through_again_before_it_is_published(surveys: Surveys) -> None:
    """With its twin, and with nothing else."""
    beside = broken(RETRIED, OPEN, stalled=True)  # a must is open beside one that is broken
    turns = iter(((cell(id="none/healthy/first"), UNPROVED), (cell(stalled=True),), (beside,), (cell(),)))
    surveys.goes = lambda _name, _items: next(turns)
    assert surveys.run("reference") is Exit.PASS
    assert surveys.examined == [("reference", CORE), ("reference", 2), ("reference", 2), ("reference", 2)]
    (found,) = load_all(surveys.folder / "results")
    assert [one.mark for one in found.cells] == ["holds", "holds"]


def test_what_never_proves_anything_is_published_with_its_reason(surveys: Surveys) -> None:
    """After two more rounds; after as many as there are where this machine stalls."""
    surveys.goes = lambda _name, _items: (HEALTHY, UNPROVED)
    assert surveys.run("reference") is Exit.PASS
    assert len(surveys.examined) == 1 + surveying.IN_VAIN
    surveys.goes = lambda _name, _items: (HEALTHY, msgspec.structs.replace(UNPROVED, stalled=True))
    assert surveys.run("reference", "--again") is Exit.PASS
    assert len(surveys.examined) == 1 + surveying.IN_VAIN + 1 + surveying.ROUNDS
    (found,) = load_all(surveys.folder / "results")
    assert [(one.mark, one.reason) for one in found.cells] == [("holds", ""), ("unknown", "nobody counted")]


def test_a_result_that_proves_nothing_is_not_published(surveys: Surveys, capsys: pytest.CaptureFixture[str]) -> None:
    """Not one cell was judged: the configuration could not run, with the reason, and the survey goes on."""
    surveys.goes = lambda name, _items: (UNPROVED, UNREACHED) if name == "reference" else (cell(),)
    assert surveys.run("reference", "reference:never") is Exit.COULD_NOT_RUN
    told = capsys.readouterr()
    said = "reference: not one of its 2 cells was judged, so that nothing is published. Of wait/reset-after/first it is"
    assert told.err == f"retryproof: {said} said: nobody counted\n"
    assert "1 of 2 configurations" in told.out
    assert surveys.written == ["reference--never-0.1.0.json", *PAGES]


def test_what_takes_half_of_its_time_is_published_as_it_is(surveys: Surveys, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that hangs under a fault hangs in every round: that must not cost what is known of it."""
    now = iter((0.0, 5.1))
    monkeypatch.setattr(surveying, "time", SimpleNamespace(monotonic=lambda: next(now)))
    surveys.goes = lambda _name, _items: (HEALTHY, msgspec.structs.replace(UNPROVED, stalled=True))
    monkeypatch.setattr(campaign, "start_ms", lambda *_: 1.0)
    assert surveys.run("reference", "--limit-s", "10") is Exit.PASS
    assert len(surveys.examined) == 1
    assert [one.mark for one in load_all(surveys.folder / "results")[0].cells] == ["holds", "unknown"]


def test_a_round_that_cannot_be_ended_costs_nothing_of_what_is_known(
    surveys: Surveys, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that hangs in every run takes whole ceilings, and one that does not start again was examined before."""

    def goes(_name: str, _items: tuple[Item, ...]) -> tuple[CellReport, ...]:
        if len(surveys.examined) > 1:
            raise CommandError("not done within 9 s", Exit.COULD_NOT_RUN)
        return (HEALTHY, UNPROVED)

    surveys.goes = goes
    assert surveys.run("reference", "--limit-s", "600") is Exit.PASS
    (found,) = load_all(surveys.folder / "results")
    assert [one.mark for one in found.cells] == ["holds", "unknown"]
    said = "retryproof: reference: what proved nothing was not lived through again: not done within 9 s\n"
    assert capsys.readouterr().err == said


@pytest.mark.parametrize(
    ("turns", "code", "runs"),
    [
        ([cell()], Exit.PASS, 1),
        ([broken(RETRIED, attempts=2)] * 5, Exit.FAIL, 5),
        ([broken(RETRIED, attempts=2), cell(attempts=3), cell()], Exit.PASS, 3),
        ([UNPROVED] * 3, Exit.UNKNOWN, 3),
    ],
    ids=["same", "another", "once the same", "proved nothing"],
)
def test_compare_fails_only_where_a_cell_never_goes_as_it_was_published(
    surveys: Surveys, turns: list[CellReport], code: Exit, runs: int
) -> None:
    """Nothing is written."""
    assert surveys.run("reference") is Exit.PASS
    before = {path: path.read_bytes() for path in surveys.folder.rglob("*") if path.is_file()}
    surveys.examined.clear()
    left = iter(turns)
    surveys.goes = lambda _name, _items: (next(left),)
    assert surveys.run("reference", "--compare") is code
    assert len(surveys.examined) == runs
    assert {path: path.read_bytes() for path in surveys.folder.rglob("*") if path.is_file()} == before


def test_compare_says_nothing_of_a_version_that_is_not_published(surveys: Surveys) -> None:
    """And proves nothing where that is so of all."""
    assert surveys.run("reference") is Exit.PASS
    assert surveys.run("reference", "reference:never", "--compare") is Exit.PASS
    assert surveys.run("reference:never", "--compare") is Exit.UNKNOWN


@pytest.mark.parametrize("words", [["--only", "status/*"], ["--compare", "--again"], ["--draw"], ["no-such-subject"]])
def test_what_makes_no_sense_is_refused(surveys: Surveys, words: list[str]) -> None:
    """A part is not published, and nothing is drawn of nothing."""
    assert surveys.run(*words) in (Exit.USAGE, Exit.COULD_NOT_RUN)
    assert surveys.written == []


async def test_what_hangs_is_ended_and_says_so() -> None:
    """After the time that it may take, in good order: what it had begun it cleans up."""
    ended: list[Any] = []

    async def hangs() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cleaned up")
            raise CommandError("interrupted; 1 of 49 cells are written", Exit.INTERRUPTED) from None

    with pytest.raises(CommandError, match=r"^not done within 0\.01 s, so it was ended: interrupted") as raised:
        await within(0.01, hangs())
    assert raised.value.code is Exit.COULD_NOT_RUN
    assert ended == ["cleaned up"]


async def test_an_interruption_stays_one() -> None:
    """Whatever time is left."""

    async def interrupted() -> None:
        raise CommandError("interrupted", Exit.INTERRUPTED)

    with pytest.raises(CommandError) as raised:
        await within(600, interrupted())
    assert raised.value.code is Exit.INTERRUPTED
