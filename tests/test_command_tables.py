"""Tables and lines of a report, on literal cells: grouped, the worst first, and nothing that was planned is hidden."""

import io
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from retryproof.cells import print_groups, print_histogram, print_unreached
from retryproof.failures import print_failures
from retryproof.folder import OutputFolder
from retryproof.terminal import spans
from retryproof.writing import Examined
from signoff.items import Item
from signoff.report import CellReport, FaultCount, Report
from signoff.results import Result
from suites.cells import all_cells
from suites.checks.at_most_once import CHECK as AT_MOST_ONCE
from suites.checks.twins import CHECK as TWINS
from suites.judge import judgement_of
from suites.run import Promise, Run, SubjectFacts
from tests.literal_reports import LOST, TWICE, broken, cell, literal_report


def printed(show: Callable[[Console, Report], None], *cells: CellReport, **histogram: FaultCount) -> list[list[str]]:
    """What is printed of a literal report at 80 columns: the words of each line."""
    out = Console(file=io.StringIO(), width=80, highlight=False)
    named = {fault.replace("_", "-"): count for fault, count in histogram.items()}
    show(out, msgspec.structs.replace(literal_report(*cells), histogram=named))
    assert isinstance(out.file, io.StringIO)
    return [line.split() for line in out.file.getvalue().splitlines() if line.strip()]


def test_the_histogram_shows_what_was_planned_and_flags_what_was_never_judged() -> None:
    """A fault that was not planned is left out; a checker that skips one is seen."""
    lines = printed(
        print_histogram,
        healthy=FaultCount(planned=3, struck=3, judged=3),
        reset_after=FaultCount(planned=2, struck=1),
        fin_after=FaultCount(),
    )
    assert lines == [
        ["faults,", "planned/struck/judged:"],
        ["healthy", "3/3/3", "reset-after", "2/1/0"],
        ["never", "judged:", "reset-after:", "planned", "2", "times,", "struck", "1"],
    ]


def test_what_was_not_run_is_one_line_for_each_reason() -> None:
    """With the number of its cells."""
    reasons = ("needs CAP_NET_RAW", "no keep-alive", "needs CAP_NET_RAW")
    cells = [cell(verdict="not_run", reason=reason) for reason in reasons]
    assert [" ".join(line) for line in printed(print_unreached, *cells)] == [
        "not run: 2 cells: needs CAP_NET_RAW",
        "not run: 1 cell: no keep-alive",
    ]


def test_cells_of_a_kind_stand_together_and_the_worst_first() -> None:
    """FAIL, UNKNOWN with its reason, what warns, what only tells; what passed is not listed."""
    lines = printed(
        print_groups,
        cell(id="passed"),
        cell(id="told", tells=True, varies=True),
        cell(id="warned", findings=(LOST,), warnings=1),
        cell(id="unproved", verdict="UNKNOWN", reason="it did not strike", attempts=None),
        broken(TWICE, id="broken/1", executions=2),
        cell(id="out-of-reach", verdict="not_run", reason="no root"),
        broken(TWICE, id="broken/2", executions=2, outcome="ok, ok, unknown", status=None),
    )
    assert [" ".join(line) for line in lines][:12] == [
        "FAIL at-most-once: 2 cells",
        "cell sent run outcome",
        "broken/1 1 2 ok 200",
        "broken/2 1 2 2 ok, 1 unknown",
        "UNKNOWN nothing was proved: 1 cell",
        "cell sent run outcome because",
        "unproved ? 1 ok 200 it did not strike",
        "warns safe-retry-made: 1 cell",
        "cell sent run outcome",
        "warned 1 1 ok 200",
        "tells recorded, the decision is not judged: 1 cell",
        "cell sent run outcome",
    ]
    assert "told 1 1 ok 200, varies" in [" ".join(line) for line in lines]
    assert ["at-most-once", "No", "operation", "is", "executed", "twice."] in lines


def test_of_many_drawn_plans_a_few_are_listed_and_every_cell_is() -> None:
    """More plans of the same kind teach nothing."""
    drawn = [broken(TWICE, id=f"drawn/{number:04}", dimensions={"drawn": True}) for number in range(40)]
    cells = [broken(TWICE, id=f"wait/{number}") for number in range(20)]
    lines = [" ".join(line) for line in printed(print_groups, *drawn, *cells)]
    assert sum(line.startswith("wait/") for line in lines) == 20
    assert sum(line.startswith("drawn/") for line in lines) == 5
    assert "and 35 more, in report.json" in lines


@pytest.mark.parametrize(
    ("numbers", "text"), [((), ""), ((4,), "4"), ((3, 4, 5), "3-5"), ((9, 3, 5, 4, 11, 12), "3-5, 9, 11-12")]
)
def test_entries_are_shown_as_spans(numbers: tuple[int, ...], text: str) -> None:
    """Neighbours are not listed one by one."""
    assert spans(numbers) == text


def test_a_failure_of_twins_alone_is_replayed_with_both_plans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One plan alone would pass; what is printed can be pasted, whatever the folder is called."""
    monkeypatch.setattr(sys, "argv", ["/some where/retryproof", "check"])
    broken_cell = next(one for one in all_cells() if one.twin is not None)
    facts = SubjectFacts(name="mine", promises=Promise.ANSWERING)
    results = tuple(
        Result(
            item=Item(id=broken_cell.id, plan=broken_cell.plan, cell=broken_cell),
            run=Run(plan=broken_cell.plan, subject=facts, operations=(), ledger=(), history=()),
            judgement=judgement_of(findings),
        )
        for findings in ((TWINS.fails("differ"),), (TWINS.fails("differ"), AT_MOST_ONCE.fails("twice")))
    )
    folder = OutputFolder.new(tmp_path / "it's out", "mine")
    folder.close()
    out = Console(file=io.StringIO(), width=80, highlight=False)
    print_failures(out, Examined(name="my own.toml", report=literal_report(), results=results, folder=folder))
    assert isinstance(out.file, io.StringIO)
    commands = [shlex.split(line)[1:] for line in out.file.getvalue().splitlines() if line.startswith("replay  ")]
    plain = ["/some where/retryproof", "replay", str(folder.plan_path(broken_cell.id)), "--subject", "my own.toml"]
    assert commands == [[*plain, "--twin", str(folder.plan_path(broken_cell.twin or ""))], plain]
