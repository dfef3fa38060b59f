"""What is measured for a sign-off, apart from the cells: mixes, intervals, waiting, and loads."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from faults.catalogue import CATALOGUE, LETS_PASS
from faults.mix import MixError, mix_in
from signoff.giving_up import giving_up_of
from signoff.loads import Load, loads_up_to
from signoff.mix import default_mix
from signoff.report import CellReport, Step, Worked
from signoff.work import interval, weight_of, work_of
from tests.literal_reports import cell, literal_report

NOTES = Path(__file__).parent.parent / "docs" / "field-notes.md"


def test_the_default_mix_weighs_each_fault_by_the_field_notes_that_name_it() -> None:
    here = [row.split(" | ", 1)[1] for row in NOTES.read_text("utf-8").splitlines() if row.startswith("| [")]
    named = Counter(name for row in here for name in set(re.findall(r"`([a-z0-9-]+)`", row)))
    expected = {id_: named[id_] for id_ in CATALOGUE if named[id_] and id_ != LETS_PASS.id}
    assert default_mix().faults == expected


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name='m'\norigin='o'\nper_1000=0\n[faults]\nreset-after=1", "per_1000 is 0; expected a number above 0"),
        ("name='m'\norigin='o'\nper_1000=1\n[faults]\nreset=1", "'reset' is no fault"),
        ("name='m'\norigin='o'\nper_1000=1\n[faults]\nreset-after=-1", "'reset-after' is -1; expected a number"),
        ("name='m'\norigin='o'\nper_1000=1", "faults is None; expected a table"),
        ("name='m'\nper_1000=1", "origin is None; expected a printable text"),
        ("nonsense", "expected TOML"),
    ],
)
def test_a_malformed_mix_quotes_the_value(text: str, says: str) -> None:
    with pytest.raises(MixError) as caught:
        mix_in(text, "mix")
    assert says in str(caught.value)


def test_an_interval_of_nothing_seen_does_not_claim_that_there_is_nothing() -> None:
    found = interval(0, 200, 10.0, 200)
    assert (found.rate, found.low) == (0.0, 0.0)
    assert 0.1 < found.high < 0.25  # Wilson: z^2 / (n + z^2) of 10


def test_an_interval_holds_its_rate() -> None:
    for count in (1, 100, 200):
        found = interval(count, 200, 1_000.0, 30.5)
        assert found.low <= found.rate <= found.high


def test_a_run_that_counts_often_shows_no_more_than_one() -> None:
    """200 operations of one run leave as much open as one; of as many runs, they are what they are."""
    assert [weight_of(counts) for counts in ([200], [1] * 200, [3, 1], [])] == [1.0, 200.0, 1.6, 0.0]
    wide, narrow = interval(0, 200, 1_000.0, weight_of([200])), interval(0, 200, 1_000.0, weight_of([1] * 200))
    assert wide.high > 790.0  # z^2 / (1 + z^2)
    assert narrow.high < 20.0


@pytest.mark.parametrize("other", [{"mix": "b"}, {"per_1000": 2.0}, {"drawn": "other plans"}, {"operations": 2}])
def test_work_that_was_not_measured_on_the_same_plans_is_not_compared(other: dict[str, Any]) -> None:
    """Under another mix, also of the same name; from another seed; or with a plan that nobody could live through."""
    one = Worked(mix="a", origin="", per_1000=1.0, operations=1, lost=0, doubled=0, drawn="plans")
    assert work_of(one, replace(one, **other)) is None
    assert work_of(one, replace(one, lost=1)) is not None


def test_the_interval_of_a_side_is_that_of_its_runs() -> None:
    """One of an older version, which does not say on how many it rests, is taken as it is."""
    one = Worked(mix="a", origin="", per_1000=1_000.0, operations=200, lost=0, doubled=0, weight=45.0)
    work = work_of(one, replace(one, weight=0.0))
    assert work is not None
    assert [side.doubled for side in (work.base, work.candidate)] == [interval(0, 200, 1_000.0, n) for n in (45, 200)]


SILENT = cell(evidence="silence until the read timeout", truth="executed", outcome="unknown", delay_ms=301.0)


def waits(base: CellReport, candidate: CellReport, **stated: int) -> list[tuple[str, float | None, float | None]]:
    """Each row, of a subject with these time-outs."""
    given = {"connect_timeout_ms": 100, "read_timeout_ms": 300, **stated}
    sides = [literal_report(side) for side in (base, candidate)]
    rows = giving_up_of(*(replace(side, subject=replace(side.subject, **given)) for side in sides))
    return [(row.of, row.base, row.candidate) for row in rows]


def test_a_caller_that_waits_twice_the_read_timeout_is_shown_as_two() -> None:
    assert waits(SILENT, replace(SILENT, delay_ms=598.0)) == [("read", 1.0, 2.0)]


def test_what_the_forwarder_took_before_its_router_saw_anything_is_no_wait_for_an_answer() -> None:
    """A busy machine takes most of a time-out for it. Of what no router saw all of it is a wait."""
    sent, told = Step(250, "forwarder", "upstream 0", "sending 1"), Step(600, "forwarder", "caller", "unknown")
    late = replace(SILENT, delay_ms=600.0, diagram=(Step(0, "caller", "forwarder", "operation 1"), sent, told))
    assert waits(late, replace(late, diagram=(late.diagram[0], told))) == [("read", 1.2, 2.0)]
    assert waits(*[replace(late, evidence="connect timeout")] * 2) == [("connect", 6.0, 6.0)]


def test_a_caller_that_has_a_result_now_waits_for_no_failure() -> None:
    assert waits(SILENT, replace(SILENT, outcome="ok")) == [("read", 1.0, None)]


@pytest.mark.parametrize(
    "change", [{"verdict": "UNKNOWN"}, {"verdict": "not_run", "outcome": ""}, {"plan": {"schema": 1}}]
)
def test_where_a_side_shows_nothing_nobody_says_that_it_met_no_failure(change: dict[str, Any]) -> None:
    """Nor under another plan."""
    assert waits(SILENT, replace(SILENT, **change)) == waits(replace(SILENT, **change), SILENT) == []


def test_a_part_of_a_timeout_is_this_machine_s_affair() -> None:
    """So is a caller that leaves before it could be told."""
    late = replace(SILENT, delay_ms=420.0)
    sides = [literal_report(side) for side in (SILENT, late)]
    stated = {"connect_timeout_ms": 100, "read_timeout_ms": 300}
    (row,) = giving_up_of(*(replace(side, subject=replace(side.subject, **stated)) for side in sides))
    assert (row.candidate, row.changed) == (1.4, False)
    left = replace(late, dimensions={"leaves": "fin"})
    assert waits(left, left) == []


def test_of_a_subject_that_states_no_timeout_nobody_knows_how_many_it_waits() -> None:
    """An older report says none."""
    assert waits(SILENT, SILENT, read_timeout_ms=0) == []


@pytest.mark.parametrize("load", loads_up_to(1_000), ids=lambda load: f"{load.state.name}, {load.at_once}")
def test_every_load_has_a_plan_of_operations_in_flight_together(load: Load) -> None:
    plan = load.plan(2)
    assert plan.concurrency == load.at_once
