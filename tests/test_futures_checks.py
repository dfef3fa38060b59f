"""Each check of futures on small records: what holds, what does not, and what shows nothing."""

import pytest

from suites.findings import Verdict
from suites.futures.checks import CHECKS
from suites.futures.judging import findings_in
from suites.futures.record import Record
from tests.futures_judged import BAD, EMPTY, GOOD
from tests.futures_records import NUMBERS, OTHERS, broke, calmed, disturbed, record, submit

OF_THE_INSTRUMENT = ("lived-through", "container-struck")  # what they do not show is nobody's fault
_NAMES = [check.name for check in CHECKS]


def _verdicts(name: str, one: Record) -> set[Verdict]:
    return {finding.verdict for finding in findings_in(one) if finding.check == name}


@pytest.mark.parametrize("name", _NAMES)
def test_a_check_passes_where_its_property_holds(name: str) -> None:
    """And only where there was something to judge."""
    assert GOOD[name]
    assert [_verdicts(name, one) for one in GOOD[name] if _verdicts(name, one) not in ({Verdict.PASS}, set())] == []
    assert {Verdict.PASS} in [_verdicts(name, one) for one in GOOD[name]]


@pytest.mark.parametrize("name", [name for name in _NAMES if name not in OF_THE_INSTRUMENT])
def test_a_check_fails_where_its_property_is_broken(name: str) -> None:
    """Each of these records breaks it."""
    assert BAD[name]
    assert [place for place, one in enumerate(BAD[name]) if _verdicts(name, one) != {Verdict.FAIL}] == []


@pytest.mark.parametrize("name", _NAMES)
def test_a_check_says_nothing_where_nothing_was_exercised(name: str) -> None:
    """What shows nothing is neither PASS nor FAIL."""
    assert [place for place, one in enumerate(EMPTY[name]) if _verdicts(name, one)] == []


def test_what_broke_down_proves_nothing() -> None:
    """UNKNOWN, whatever else the record holds."""
    assert _verdicts("lived-through", record(submit(), broke())) == {Verdict.UNKNOWN}
    assert _verdicts("container-struck", record(disturbed(), calmed(seen=False), disturbed(), calmed())) == {
        Verdict.UNKNOWN
    }


def test_a_good_record_breaks_no_other_check() -> None:
    """What is right for one check is wrong for none, but where the record says so."""
    broken = {
        (name, place, finding.check)
        for name, records in GOOD.items()
        for place, one in enumerate(records)
        for finding in findings_in(one)
        if finding.verdict is Verdict.FAIL and finding.check not in ("own-result", "whole-answers", "result-kept")
    }
    assert broken == set()
    assert NUMBERS != OTHERS
