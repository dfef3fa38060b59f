"""What is measured for a sign-off, apart from the cells: mixes, intervals, waiting, and loads."""

import re
from collections import Counter
from pathlib import Path

import pytest

from faults.catalogue import CATALOGUE, LETS_PASS
from signoff.giving_up import giving_up_of
from signoff.loads import Load, loads_up_to
from signoff.mix import MixError, default_mix, mix_in
from signoff.report import SubjectReport, Worked
from signoff.work import interval, work_of
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
    found = interval(0, 200, 10.0)
    assert (found.rate, found.low) == (0.0, 0.0)
    assert 0.1 < found.high < 0.25  # Wilson: z^2 / (n + z^2) of 10


def test_an_interval_holds_its_rate() -> None:
    for count in (1, 100, 200):
        found = interval(count, 200, 1_000.0)
        assert found.low <= found.rate <= found.high


def test_work_under_different_mixes_is_not_compared() -> None:
    one = Worked(mix="a", origin="", per_1000=1.0, operations=1, lost=0, doubled=0)
    other = Worked(mix="b", origin="", per_1000=1.0, operations=1, lost=0, doubled=0)
    assert work_of(one, other) is None
    assert work_of(one, one) is not None


def test_a_caller_that_waits_twice_the_read_timeout_is_shown_as_two() -> None:
    silent = {"evidence": "silence until the read timeout", "truth": "executed", "outcome": "unknown", "status": None}
    subject = SubjectReport(name="mine", version="1", promises="answering", connect_timeout_ms=100, read_timeout_ms=300)
    sides = [
        type(report)(**{**{f: getattr(report, f) for f in report.__struct_fields__}, "subject": subject})
        for report in (
            literal_report(cell(delay_ms=301.0, **silent)),
            literal_report(cell(delay_ms=598.0, **silent)),
        )
    ]
    (row,) = giving_up_of(*sides)
    assert (row.of, row.base, row.candidate) == ("read", 1.0, 2.0)


@pytest.mark.parametrize("load", loads_up_to(1_000), ids=lambda load: f"{load.state.name}, {load.at_once}")
def test_every_load_has_a_plan_of_operations_in_flight_together(load: Load) -> None:
    plan = load.plan(2)
    assert plan.concurrency == load.at_once
