"""Whatever a ledger and a history hold, the judge has a verdict, and less evidence never makes a PASS."""

from dataclasses import replace
from random import Random

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fake_router.entries import Struck
from suites.findings import Verdict
from suites.judge import Judgement, judge, judge_twins
from suites.run import Run
from tests.ledgers import Case
from tests.test_checks_cases_budget import CASES as BUDGET
from tests.test_checks_cases_codings import CASES as CODINGS
from tests.test_checks_cases_failures import CASES as FAILURES
from tests.test_checks_cases_instrument import CASES as INSTRUMENT
from tests.test_checks_cases_parts import CASES as PARTS
from tests.test_checks_cases_replies import CASES as REPLIES
from tests.test_checks_cases_results import CASES as RESULTS
from tests.test_checks_cases_retry import CASES as RETRY
from tests.test_checks_cases_streams import CASES as STREAMS
from tests.test_checks_cases_unread import CASES as UNREAD
from tests.test_checks_cases_witnesses import CASES as WITNESSES

# A machine that stalls is no failure of a check: nothing here is about time.
ANY_TIME = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
ANSWERS = (*RESULTS, *REPLIES, *CODINGS, *STREAMS, *PARTS)
CASES: tuple[Case, ...] = (*RETRY, *UNREAD, *ANSWERS, *FAILURES, *BUDGET, *INSTRUMENT, *WITNESSES)
RUNS = st.sampled_from([case.run for case in CASES])


def _crashed(judgement: Judgement) -> list[str]:
    return [finding.says for finding in judgement.findings if "crashed" in finding.says]


@st.composite
def _mangled(draw: st.DrawFn) -> Run:
    """A literal run of which entries and outcomes are lost, doubled, or in another order, also by their numbers."""
    run = draw(RUNS)
    other = draw(RUNS)
    entries = draw(st.lists(st.sampled_from([*run.ledger, *other.ledger]), max_size=40)) if run.ledger else []
    seqs = draw(st.lists(st.integers(0, 30), min_size=len(entries), max_size=len(entries)))
    renumbered = tuple(msgspec.structs.replace(e, seq=seq) for e, seq in zip(entries, seqs, strict=True))
    history = draw(st.lists(st.sampled_from(run.history), max_size=4)) if run.history else []
    return replace(run, ledger=draw(st.sampled_from([tuple(entries), renumbered])), history=tuple(history))


@ANY_TIME
@given(_mangled())
def test_no_check_crashes_whatever_the_ledger_holds(run: Run) -> None:
    """There is a verdict (or a reason for none), and no check raised."""
    judgement = judge(run)
    assert _crashed(judgement) == []
    assert (judgement.verdict is None) == (run.unreachable is not None)


@ANY_TIME
@given(_mangled(), RUNS)
def test_twins_of_anything_can_be_judged(run: Run, other: Run) -> None:
    """Runs of the same shape are compared without an exception, and a run is the same as itself."""
    if len(run.plan.operations) == len(other.plan.operations):
        judge_twins(run, other)
    assert all(finding.verdict is Verdict.PASS for finding in judge_twins(run, run))


@ANY_TIME
@given(RUNS, st.randoms(use_true_random=False))
def test_the_order_of_the_tuple_is_of_no_account(run: Run, random: Random) -> None:
    """Entries are ordered by their numbers: a shuffled ledger gets the same judgement."""
    shuffled = list(run.ledger)
    random.shuffle(shuffled)
    assert judge(replace(run, ledger=tuple(shuffled))) == judge(run)


@ANY_TIME
@given(RUNS, st.data())
def test_less_evidence_of_strikes_makes_no_pass(run: Run, data: st.DataObject) -> None:
    """A verdict that was no PASS is none when entries that close strikes are lost."""
    closing = [entry for entry in run.ledger if isinstance(entry, Struck)]
    lost = data.draw(st.lists(st.sampled_from(closing), unique_by=lambda entry: entry.seq)) if closing else []
    if judge(run).verdict is not Verdict.PASS:
        fewer = replace(run, ledger=tuple(entry for entry in run.ledger if entry not in lost))
        assert judge(fewer).verdict is not Verdict.PASS


def test_without_its_strikes_no_case_passes() -> None:
    """Of every literal run that passes with a strike, the same run without any closed strike does not."""
    passing = [case for case in CASES if case.verdict is Verdict.PASS]
    struck = [case for case in passing if any(isinstance(entry, Struck) for entry in case.run.ledger)]
    assert len(struck) > 10
    for case in struck:
        bare = replace(case.run, ledger=tuple(e for e in case.run.ledger if not isinstance(e, Struck)))
        assert judge(bare).verdict is Verdict.UNKNOWN, case.name


def test_the_table_covers_the_rules() -> None:
    """There are cases of every rule that a single run can show (6 to 8, 3 and 11 are tested elsewhere)."""
    assert {case.rule for case in CASES} >= {1, 2, 4, 5, 8, 9, 10, 12, 13}
    assert len({case.name for case in CASES}) == len(CASES) > 30
