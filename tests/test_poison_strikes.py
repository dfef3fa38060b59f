"""What makes a toxic's strike believed: literal ledgers, and a router's own table of pending strikes."""

import pytest

from fake_router.entries import (
    AnyEntry,
    Closed,
    EndedBy,
    Opened,
    Received,
    Replied,
    Sighted,
    Striking,
    Struck,
    Witness,
)
from fake_router.injector import ListenerStep
from fake_router.ledger import Ledger
from fake_router.poisoning import Poisons
from faults.acts import ListenerAct
from faults.catalogue import POISONS
from faults.plan import Plan, PlannedListener, PlannedOperation
from faults.poison import Poison, Poisoning
from suites.accounts import accounts_of
from suites.checks.instrument import doubts
from suites.checks.results import was_lost
from suites.checks.safe_retry import safe_retry
from suites.findings import Verdict
from suites.history import Arrival, Kind, Outcome
from suites.judge import judge
from suites.run import Promise, Run, SubjectFacts


def connections(number: int, *sighted: Sighted) -> Run:
    """So many connections were ended by a toxic of the request's way, on which these were seen (none: nobody saw)."""
    fault = next(one for one in POISONS.values() if isinstance(one.act, Poison) and one.act.strikes_requests)
    struck: list[AnyEntry] = []
    for connection in range(1, number + 1):
        seq = len(struck) + 1
        struck.append(Opened(seq=seq, connection=connection, upstream=0, peer_port=9))
        struck.append(Striking(seq=seq + 1, fault=fault.id, upstream=0, connection=connection, operation=7))
        struck.append(Struck(seq=seq + 2, striking=seq + 1, witness=Witness.LOST, lost_bytes=5_000))
        struck.append(Closed(seq=seq + 3, connection=connection, by=EndedBy.PEER))
    return Run(
        plan=Plan(operations=(PlannedOperation(),), listeners=(PlannedListener(fault=fault.id),)),
        subject=SubjectFacts(name="any", promises=Promise.ANSWERING),
        operations=(7,),
        ledger=(*struck, *sighted),
        history=(),
    )


def seen(seq: int, operation: int | None = None, *, probe: bool = False, request_bytes: int = 300) -> Sighted:
    """What a packet witness saw."""
    return Sighted(seq=seq, upstream=0, peer_port=seq, operation=operation, probe=probe, request_bytes=request_bytes)


REQUEST, AGAIN, PROBE = seen(21, 7), seen(22, 7), seen(23, probe=True, request_bytes=4_000)
NOBODY_S = seen(24)  # its bytes do not tell whose it is


@pytest.mark.parametrize(
    ("run", "sendings"),
    [
        (connections(1), 1),
        (connections(1, REQUEST), 1),
        (connections(1, NOBODY_S), 1),
        (connections(2, REQUEST, AGAIN), 2),
        (connections(2, REQUEST, PROBE), 1),
        (connections(2, PROBE, REQUEST), 1),
        (connections(3, REQUEST, PROBE, AGAIN), 2),
        (connections(2, REQUEST), 1),
        (connections(2, PROBE, NOBODY_S), 1),
        (connections(1, PROBE), 0),
        (connections(2, PROBE, PROBE), 0),
    ],
)
def test_as_many_requests_were_lost_as_were_seen(run: Run, sendings: int) -> None:
    """However large a probe beside them was; what a pool had open brought nothing."""
    (account,) = accounts_of(run).planned
    assert len(account.attempts) == sendings
    assert all(attempt.exactly_one for attempt in account.attempts)
    assert not any("nobody saw" in says for attempt in account.attempts for says in doubts(run, attempt))
    retried = [finding for finding in safe_retry(run) if finding.verdict is Verdict.FAIL]
    assert bool(retried) is (sendings > 1)


@pytest.mark.parametrize("run", [connections(2), connections(2, REQUEST, NOBODY_S), connections(3, NOBODY_S, NOBODY_S)])
def test_where_nobody_saw_whose_they_were_nothing_is_proved(run: Run) -> None:
    """One request was sent, or more: neither a pass nor a retry. All that was struck is shown."""
    (account,) = accounts_of(run).planned
    (attempt,) = account.attempts
    assert not attempt.exactly_one
    assert {entry.seq for entry in run.ledger if isinstance(entry, Struck)} <= set(attempt.entries)
    assert any("nobody saw which carried it" in says for says in doubts(run, attempt))
    judgement = judge(run)
    assert judgement.verdict is Verdict.UNKNOWN
    assert "vacuity" in {finding.check for finding in judgement.unknowns}


@pytest.mark.parametrize("toxic", [Poisoning.DOWN, Poisoning.TIMEOUT])
@pytest.mark.parametrize("left_before", [False, True])
def test_what_had_ended_before_its_toxic_was_set_was_not_struck(toxic: Poisoning, left_before: bool) -> None:
    """The subject gave up, and then the toxic came: nothing was ended by it."""
    act = next(
        one.act
        for one in POISONS.values()
        if isinstance(one.act, Poison) and one.act.toxic is toxic and one.act.holds and not one.act.loses_bytes
    )
    held: ListenerAct = act
    fault = next(id_ for id_, one in POISONS.items() if one.act == act)
    ledger, poisons, over = Ledger(), Poisons(), [left_before]
    step = ListenerStep(upstream=0, act=held, fault=fault, operation=7, read_timeout_s=0.3)
    poisons.open_strike(ledger, step, 1, lambda: over[0], exchange=1, operation=7)
    poisons.setting(0, begun=True)
    if toxic is Poisoning.DOWN:
        over[0] = True  # while it is being set
    poisons.setting(0, begun=False)
    over[0] = True
    poisons.settle(ledger, lost={}, in_force={0})
    assert any(isinstance(entry, Struck) for entry in ledger.since(0)) is not left_before


def test_every_toxic_but_a_slow_close_loses_what_was_on_its_way() -> None:
    """Also one after which the caller sees a stall, as after a slow close."""
    for fault in POISONS.values():
        assert isinstance(fault.act, Poison)
        if not fault.truth.executed:
            continue
        ledger: tuple[AnyEntry, ...] = (
            Received(seq=1, exchange=1, connection=1, upstream=0, nth=1, operation=7),
            Striking(seq=2, fault=fault.id, upstream=0, connection=1, exchange=1, operation=7),
            Struck(seq=3, striking=2, witness=Witness.LOST),
        )
        run = Run(
            plan=Plan(operations=(PlannedOperation(),), listeners=(PlannedListener(fault=fault.id),)),
            subject=SubjectFacts(name="any", promises=Promise.ANSWERING),
            operations=(7,),
            ledger=ledger,
            history=(),
        )
        (account,) = accounts_of(run).planned
        assert was_lost(account.attempts[0]) is (fault.act.toxic is not Poisoning.SLOW_CLOSE)


@pytest.mark.parametrize("waited_ms", [10, 149, 150, 300])
def test_a_slow_close_that_nobody_waited_for_is_vacuous(waited_ms: int) -> None:
    """Half of the shortest time-out, here 300 ms, is the least that its caller must have waited for the end."""
    act_of = {id_: one.act for id_, one in POISONS.items()}
    fault = next(id_ for id_, act in act_of.items() if isinstance(act, Poison) and act.delays_the_end)
    ledger: tuple[AnyEntry, ...] = (
        Received(seq=1, exchange=1, connection=1, upstream=0, nth=1, operation=7),
        Striking(seq=2, fault=fault, upstream=0, connection=1, exchange=1, operation=7),
        Replied(seq=3, at_ns=1_000_000, exchange=1, bytes_sent=400, whole=True),
        Struck(seq=4, striking=2, witness=Witness.ENDED),
    )
    ended_at_ns = 1_000_000 + waited_ms * 1_000_000
    outcome = Outcome(operation=7, kind=Kind.UNKNOWN, arrival=Arrival.RETURNED, ended_at_ns=ended_at_ns)
    run = Run(
        plan=Plan(operations=(PlannedOperation(),), listeners=(PlannedListener(fault=fault),)),
        subject=SubjectFacts(name="any", promises=Promise.ANSWERING),
        operations=(7,),
        ledger=ledger,
        history=(outcome,),
    )
    (account,) = accounts_of(run).planned
    says = [one for one in doubts(run, account.attempts[0]) if "waited for no end" in one]
    assert bool(says) is (waited_ms < 150)
