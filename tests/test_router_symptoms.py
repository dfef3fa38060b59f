"""Each fault on a real socket: what a plain client sees, and what the ledger says was true."""

from collections.abc import Iterator

import pytest

from fake_router.entries import (
    Accepted,
    AnyEntry,
    Closed,
    Dialled,
    EndedBy,
    Executed,
    Opened,
    Received,
    Replied,
    Replying,
    Striking,
    Struck,
    Unserved,
    Witness,
)
from fake_router.kernel import can_watch_packets
from fake_router.replies import content_of
from faults.acts import (
    Act,
    LeaveUnread,
    NeverAccept,
    ResetAtAccept,
    is_listener_act,
    needs_expectation,
    needs_stream,
    needs_tcp,
    needs_tls,
)
from faults.answer import Answer
from faults.catalogue import CATALOGUE
from faults.coverage import COSTLY, FORMS
from faults.fault import Fault
from faults.form import COMPLETION, STREAM, Form
from faults.sight import sight_is_certain, sight_of
from faults.truth import Truth, is_late, truth_of
from faults.vocabulary import Ending, Phase, Sight
from faults.vocabulary import Replied as HowMuch
from suites.reach import Machine
from tests.reply_reader import Seen
from tests.router_client import (
    GIVES_UP_MS,
    LONG_MS,
    READ_TIMEOUT_MS,
    Client,
    Stage,
    asking,
    dial,
    faulty,
    one,
    staged,
    work,
)
from tests.tls_client import trusting


def _forms(fault: Fault, tls: bool) -> list[Form]:
    """Those in which it is met: a stream where it strikes one alone, or where it stands for all others there."""
    own = STREAM if needs_stream(fault.act) else COMPLETION
    others = [FORMS[dimension] for dimension in FORMS if not tls and dimension in fault.coverage.full]
    return list(dict.fromkeys([own, *others]))


# Each over plain TCP, where it can be, and over TLS.
EXCHANGE_FAULTS = [
    pytest.param(fault, tls, form, id="-".join([fault.id, *["tls"] * tls, *[form.api] * (form != COMPLETION)]))
    for fault in CATALOGUE.values()
    for tls in (False, True)
    if not is_listener_act(fault.act) and (tls or not needs_tls(fault.act)) and fault.coverage is not COSTLY
    for form in _forms(fault, tls)
]
# What this machine cannot do as it is, tests/test_own_network.py does where it can; names have tests of their own. What
# lies idle, and who waits for 100 Continue, is in tests/test_router_idle.py and tests/test_router_parts.py.
LISTENER_FAULTS = [
    pytest.param(fault, tls, id=f"{fault.id}{'-tls' * tls}")
    for fault in CATALOGUE.values()
    for tls in (False, True)
    if is_listener_act(fault.act)
    and Machine.here().lacks_for(fault.act) is None
    and fault.phase not in (Phase.POOL, Phase.RESOLVE, Phase.IDLE)
    and not needs_expectation(fault.act)
    and not (needs_tcp(fault.act) if tls else needs_tls(fault.act))
]
OPERATION = 7


@pytest.fixture(scope="module")
def stages() -> Iterator[dict[bool, Stage]]:
    with staged() as plain, staged(tls=True) as over_tls:
        yield {False: plain, True: over_tls}


def _patience_ms(act: Act) -> int:
    """A client whose read timeout is the plan's, where the act's delay lies beyond it. What comes inside it is waited
    for: this machine may be slower than the act.
    """
    if isinstance(act, Answer) and act.delay is not None and act.delay >= 1:
        return READ_TIMEOUT_MS
    nothing = (Sight.SILENCE, Sight.CONNECT_TIMEOUT, Sight.TLS_STALLED, Sight.STALL)
    return GIVES_UP_MS if sight_of(act) in nothing else LONG_MS


def _sights(act: Act) -> frozenset[Sight]:
    """What is written wrongly is refused by some and read by others; what is near a time-out is on either side."""
    sight = sight_of(act)
    if sight is Sight.FLAWED:
        return frozenset({Sight.FLAWED, Sight.WHOLE, Sight.CUT})
    return frozenset({sight}) if sight_is_certain(act) else frozenset({Sight.WHOLE, Sight.SILENCE})


def _truth_in(entries: list[AnyEntry]) -> Truth:
    """The four facts of the only sending in these entries."""
    replied = [entry for entry in entries if isinstance(entry, Replied)]
    how_much = HowMuch.NOTHING
    if replied:
        (reply,) = replied
        how_much = HowMuch.WHOLE if reply.whole else HowMuch.PART
    return Truth(
        received=any(isinstance(entry, Received) for entry in entries),
        accepted=any(isinstance(entry, Accepted) for entry in entries),
        executed=any(isinstance(entry, Executed) for entry in entries),
        replied=how_much,
    )


def _check_bytes(act: Act, form: Form, seen: Seen, entries: list[AnyEntry]) -> None:
    """What arrived is what a judge computes from the ledger."""
    if seen.status is None:
        return
    assert isinstance(act, Answer)
    execution = next((entry.execution for entry in entries if isinstance(entry, Executed)), 0)
    whole = content_of(act, OPERATION, execution, 1, form)
    assert seen.status == act.status
    assert seen.interim == act.interim
    if act.incomplete:
        assert whole.startswith(seen.body)
    else:
        assert seen.body == whole


@pytest.mark.parametrize("nth", [1, 2])
@pytest.mark.parametrize(("fault", "tls", "form"), EXCHANGE_FAULTS)
def test_an_exchange_fault_shows_its_sight_and_leaves_its_truth(
    stages: dict[bool, Stage], fault: Fault, tls: bool, form: Form, nth: int
) -> None:
    """On a first request and on a reused connection alike."""
    stage = stages[tls]
    stage.heal()
    with Client(stage.port, tls=trusting() if tls else None) as client:
        for warm in range(1, nth):
            assert client.ask(work(warm)).sight is Sight.WHOLE
        before = len(stage.entries())
        stage.arm(one(fault.id, tls=tls, api=form.api.value, stream=form.stream), first=OPERATION)
        seen = client.ask(asking(OPERATION, form), within_ms=_patience_ms(fault.act))
        if isinstance(fault.act, Answer) and fault.act.surplus is not None:
            assert stage.idle()  # it comes when the client has all that it asked for
    assert stage.idle()
    entries = list(stage.entries()[before:])
    assert seen.sight in _sights(fault.act)
    _check_bytes(fault.act, form, seen, entries)
    _check_truth(fault, entries)
    (received,) = [entry for entry in entries if isinstance(entry, Received)]
    assert (received.nth, received.operation) == (nth, OPERATION)
    _check_strike(fault, entries)
    _check_end(fault, entries)


def _check_truth(fault: Fault, entries: list[AnyEntry]) -> None:
    truth = truth_of(fault.act)
    found = _truth_in(entries)
    if is_late(fault.act) and found.replied is not truth.replied:
        assert (found.received, found.accepted, found.executed) == (True, True, True)  # the peer left before the reply
    else:
        assert found == truth


def _check_strike(fault: Fault, entries: list[AnyEntry]) -> None:
    (striking,) = [entry for entry in entries if isinstance(entry, Striking)]
    (struck,) = [entry for entry in entries if isinstance(entry, Struck)]
    assert (striking.fault, striking.operation) == (fault.id, OPERATION)
    assert (struck.striking, struck.witness, struck.count) == (striking.seq, Witness.ACT, 1)
    executed = [entry.seq for entry in entries if isinstance(entry, Executed)]
    assert all(seq < striking.seq for seq in executed)
    replies = [entry.seq for entry in entries if isinstance(entry, Replying | Replied)]
    assert all(striking.seq < seq < struck.seq for seq in replies)


def _check_end(fault: Fault, entries: list[AnyEntry]) -> None:
    (closed,) = [entry for entry in entries if isinstance(entry, Closed)]
    ending = getattr(fault.act, "ending", None)
    by = {None: EndedBy.PEER, Ending.RESET: EndedBy.ROUTER_RESET}
    assert closed.by is by.get(ending, EndedBy.ROUTER_FIN)


@pytest.mark.parametrize(("fault", "tls"), LISTENER_FAULTS)
def test_a_listener_fault_shows_its_sight_and_leaves_its_truth(fault: Fault, tls: bool) -> None:
    act, context = fault.act, trusting() if tls else None
    with staged(tls=tls) as stage:
        stage.arm(faulty(fault.id, tls=tls), first=OPERATION)
        within_ms = READ_TIMEOUT_MS if _late(act) else _patience_ms(act)
        seen = dial(stage.port, work(OPERATION), within_ms=within_ms, tls=context)
        assert stage.idle()
        stage.heal()
        stage.drain()
        entries = list(stage.entries())
        # Over TLS a reset at accept ends a handshake, or comes before it has begun.
        either = {Sight.TLS_FAILED} if tls and isinstance(act, ResetAtAccept) else set()
        assert seen.sight in {sight_of(act), *either}
        assert dial(stage.port, work(OPERATION + 1), tls=context).sight is Sight.WHOLE
    assert _truth_in(entries) == truth_of(act)
    (striking,) = [entry for entry in entries if isinstance(entry, Striking)]
    (struck,) = [entry for entry in entries if isinstance(entry, Struck)]
    assert (striking.fault, striking.upstream, striking.operation) == (fault.id, 0, OPERATION)
    assert struck.striking == striking.seq
    if fault.phase is Phase.CONNECT:
        _check_dial(fault, entries, struck)
    else:
        assert struck.witness is (Witness.QUEUE if isinstance(act, NeverAccept) else Witness.ACT)
        _check_unread(fault, entries)


def _late(act: Act) -> bool:
    return isinstance(act, LeaveUnread) and act.serve_after is not None


def _check_dial(fault: Fault, entries: list[AnyEntry], struck: Struck) -> None:
    assert not [entry for entry in entries if isinstance(entry, Opened)]
    dials = [entry for entry in entries if isinstance(entry, Dialled)]
    refused = sight_of(fault.act) is Sight.REFUSED
    if can_watch_packets():
        assert [entry.refused for entry in dials] == [refused]
        assert (struck.witness, struck.count) == (Witness.PACKET, 1)
    else:
        assert struck.witness is (Witness.EXCLUSION if refused else Witness.SK_DROPS)


def _check_unread(fault: Fault, entries: list[AnyEntry]) -> None:
    act = fault.act
    unserved = [entry for entry in entries if isinstance(entry, Unserved)]
    if fault.phase is Phase.TLS or isinstance(act, ResetAtAccept) or _late(act):
        assert unserved == []
        return
    (lost,) = unserved
    whose = None if isinstance(act, NeverAccept) and act.closes else OPERATION  # nobody has read a byte of it
    assert (lost.operation, lost.request_bytes) == (whose, len(work(OPERATION)))


@pytest.mark.parametrize(("fault", "struck"), [("slow-inside", 0), ("slow-beyond", 1)])
def test_a_peer_that_leaves_before_the_reply_has_met_silence_and_nothing_else(fault: str, struck: int) -> None:
    """A late answer inside the read timeout is an answer: nobody who left before it has met it."""
    with staged() as stage:
        stage.thread.run(stage.router.arm, one(fault), first_operation=OPERATION, read_timeout_ms=600_000)
        with Client(stage.port) as client:
            client.send(work(OPERATION))
            stage.until(Striking, 1)
        stage.until(Closed, 1)
        assert stage.of(Replied) == []
        assert len(stage.of(Struck)) == struck
