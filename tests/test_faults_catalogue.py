"""The catalogue agrees with itself: truth, evidence, class and twins."""

from collections.abc import Callable
from typing import Any

import pytest

from faults.acts import (
    Act,
    AnswerEarly,
    EndIdle,
    EndUnread,
    Fragment,
    LeaveUnread,
    StopReading,
    is_listener_act,
)
from faults.answer import MAX_CUT, Answer, Drip, Pause
from faults.catalogue import CATALOGUE, DISTURBANCES, POISONS, fault_named
from faults.evidence import NO_CONTRACT, REFERENCE_CONTRACT, Evidence, classify
from faults.families import UnknownFaultError
from faults.fault import Fault
from faults.sight import shows_its_cause
from faults.vocabulary import (
    Class,
    Coding,
    Content,
    Ending,
    Extent,
    Flaw,
    Framing,
    Noise,
    Persistence,
    Phase,
    Point,
    Replied,
    Side,
    Sight,
    Surplus,
)

FAULTS = pytest.mark.parametrize("fault", CATALOGUE.values(), ids=CATALOGUE)


@FAULTS
def test_a_twin_has_the_same_evidence_and_the_opposite_truth(fault: Fault) -> None:
    """Nothing that the forwarder can see tells twins apart."""
    if fault.twin is None:
        assert fault.no_twin
        return
    twin = fault_named(fault.twin)
    assert twin.evidence == fault.evidence
    assert twin.truth.executed is not fault.truth.executed


@FAULTS
def test_every_ambiguous_fault_has_a_twin_unless_it_tells_or_a_contract_settles_it(fault: Fault) -> None:
    """Rule 3: the exceptions are the reset at accept, and the answer that a contract names."""
    if fault.class_under(REFERENCE_CONTRACT) is Class.AMBIGUOUS and shows_its_cause(fault.act):
        assert fault.twin is not None


@FAULTS
def test_work_is_executed_exactly_when_it_was_accepted_and_only_when_received(fault: Fault) -> None:
    """The two lie apart only where a gate holds the work; no fault of the catalogue does."""
    truth = fault.truth
    assert truth.accepted is truth.executed
    assert truth.received or not truth.accepted
    assert truth.received or truth.replied is Replied.NOTHING or isinstance(fault.act, AnswerEarly)


@FAULTS
def test_safe_evidence_is_never_left_by_work_that_ran(fault: Fault) -> None:
    """A fault whose class is SAFE under any contract of ours has not executed."""
    for contract in (NO_CONTRACT, REFERENCE_CONTRACT):
        if fault.class_under(contract) is Class.SAFE:
            assert not fault.truth.executed


@FAULTS
def test_only_the_contract_answer_changes_its_class(fault: Fault) -> None:
    """Other bodies never match the contract, nor does its text with another status; when it comes is all one."""
    changes = fault.class_under(NO_CONTRACT) is not fault.class_under(REFERENCE_CONTRACT)
    act = fault.act
    named = isinstance(act, Answer | AnswerEarly) and (act.status, act.content) == (503, Content.NO_WORKERS)
    assert changes is named


def test_every_fault_is_filed_under_its_own_id() -> None:
    """The key and the id are one."""
    assert all(key == fault.id for key, fault in CATALOGUE.items())


def test_every_phase_sight_and_content_occurs() -> None:
    """A new member breaks the build until the catalogue shows it."""
    assert {fault.phase for fault in (*CATALOGUE.values(), *POISONS.values(), *DISTURBANCES.values())} == set(Phase)
    assert {fault.evidence.sight for fault in CATALOGUE.values()} == set(Sight)
    answers = [fault.act for fault in CATALOGUE.values() if isinstance(fault.act, Answer)]
    assert {act.content for act in answers} == set(Content)
    assert {act.framing for act in answers} == set(Framing)
    assert {act.flaw for act in answers} == {None, *Flaw}
    assert {act.coding for act in answers} == {None, *Coding}
    assert {act.surplus for act in answers} == {None, *Surplus}
    assert {act.says for act in answers} == set(Persistence)
    assert {fault.act.noise for fault in CATALOGUE.values() if isinstance(fault.act, Fragment)} == {None, *Noise}
    assert {act.cut for act in answers} >= {None, *Point}
    assert {act.ending for act in answers} == {None, *Ending}
    assert {act.side for act in answers} == set(Side)


def test_listener_faults_strike_before_a_request_is_read() -> None:
    """Their phase says so."""
    early = {Phase.POOL, Phase.IDLE, Phase.RESOLVE, Phase.CONNECT, Phase.TLS, Phase.ACCEPT, Phase.REQUEST}
    assert all((fault.phase in early) is is_listener_act(fault.act) for fault in CATALOGUE.values())


@pytest.mark.parametrize("status", range(300, 600))
def test_every_status_has_a_class(status: int) -> None:
    """408, 417, 421 and 425 are safe, 429 and 5xx ambiguous, all else is an answer."""
    found = classify(Evidence(sight=Sight.STATUS, status=status))
    if status in (408, 417, 421, 425):
        assert found is Class.SAFE
    elif status == 429 or status >= 500:
        assert found is Class.AMBIGUOUS
    else:
        assert found is Class.FINAL


@pytest.mark.parametrize("sight", Sight)
def test_every_sight_has_a_class(sight: Sight) -> None:
    """Only what happened before a connection, and its TLS, existed is safe by its sight alone."""
    found = classify(Evidence(sight=sight, status=503 if sight is Sight.STATUS else None))
    unsent = (Sight.POOL_WAIT, Sight.IDLE_END, Sight.UNRESOLVED)
    before_tcp = (*unsent, Sight.REFUSED, Sight.UNREACHABLE, Sight.CONNECT_TIMEOUT)
    assert (found is Class.SAFE) is (sight in (*before_tcp, Sight.TLS_FAILED, Sight.TLS_STALLED))


def test_a_status_without_its_number_is_refused() -> None:
    """Evidence of a status that lacks the status cannot be classified."""
    with pytest.raises(ValueError, match="without the status"):
        classify(Evidence(sight=Sight.STATUS))


def test_an_unknown_fault_names_the_nearest_ones() -> None:
    """The message quotes the value and says what there is."""
    with pytest.raises(UnknownFaultError, match=r"'reset-befor' .* reset-before"):
        fault_named("reset-befor")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"side": Side.BEFORE, "status": 200}, "a 2xx means that the work was done"),
        ({"side": Side.BEFORE, "status": 500}, "nothing ran that it could name"),
        ({"side": Side.AFTER, "status": 99}, "expected a final status"),
        ({"side": Side.AFTER, "cut": 0}, "expected a number of bytes"),
        ({"side": Side.AFTER, "cut": MAX_CUT + 1}, "expected a number of bytes"),
        ({"side": Side.AFTER, "interim": (101,)}, "and not 101"),
        ({"side": Side.AFTER, "framing": Framing.CLOSE}, "expected one, for the body ends with the connection"),
        ({"side": Side.AFTER, "flaw": Flaw.CHUNK_SIZE}, "expected <Framing.CHUNKED"),
        ({"side": Side.AFTER, "status": 204}, "expected <Content.EMPTY"),
        ({"side": Side.AFTER, "content": Content.HUGE, "cut": Point.HALF}, "expected a plain reply"),
        ({"side": Side.AFTER, "content": Content.EMPTY, "coding": Coding.GZIP}, "expected content to encode"),
        ({"side": Side.AFTER, "surplus": Surplus.STRAY, "ending": Ending.FIN}, "expected one that lets it stay"),
        ({"side": Side.AFTER, "surplus_after": 1.0}, "with surplus None"),
        ({"side": Side.AFTER, "pace": Pause(at=Point.LAST_CHUNK, length=0.1)}, "expected chunked"),
        ({"side": Side.AFTER, "cut": Point.LAST_CHUNK, "ending": Ending.FIN}, "expected chunked"),
        ({"side": Side.AFTER, "cut": Point.HALF, "ending": Ending.FIN, "content": Content.EMPTY}, "expected content"),
        ({"side": Side.AFTER, "delay": 0.0}, "expected a multiple of the read timeout"),
    ],
)
def test_an_answer_that_cannot_be_is_not_built(fields: dict[str, object], message: str) -> None:
    """Illegal combinations are refused with the reason."""
    with pytest.raises(ValueError, match=message):
        Answer(**fields)  # type: ignore[arg-type]  # illegal on purpose


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "expected exactly one"),
        ({"interim": (100,), "noise": Noise.GARBAGE}, "expected exactly one"),
        ({"interim": (200,)}, "expected 100 to 199"),
    ],
)
def test_a_fragment_that_cannot_be_is_not_built(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Fragment(side=Side.AFTER, **fields)


@pytest.mark.parametrize(("pieces", "pause"), [(1, 0.1), (101, 0.1), (None, 0.1), (2, 11.0)])
def test_a_drip_that_cannot_be_is_not_built(pieces: int | None, pause: float) -> None:
    """Every byte by itself takes no time: a pause between two of them would depend on how many there are."""
    with pytest.raises(ValueError, match="expected"):
        Drip(pieces=pieces, pause=pause)


def test_a_connection_cannot_be_served_before_it_was_left_unread() -> None:
    """A delay of nothing is no delay."""
    with pytest.raises(ValueError, match="expected a multiple of the read timeout"):
        LeaveUnread(serve_after=0)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: EndIdle(ending=Ending.FIN, status=200), "expected 300 to 599"),
        (lambda: EndIdle(ending=Ending.ALERT), "expected fin or reset"),
        (lambda: EndUnread(ending=Ending.RESET, abandoned=True), "a reset ends it at once"),
        (lambda: EndUnread(ending=Ending.TRUNCATION), "expected fin or reset"),
        (lambda: StopReading(until=Extent.HEAD, ending=Ending.ALERT), "expected fin or reset"),
        (lambda: AnswerEarly(until=Extent.HEAD, status=200, content=Content.ERROR), "expected 300 to 599"),
        (lambda: AnswerEarly(until=Extent.HEAD, status=503, content=Content.RESULT), "nothing ran that it could name"),
        (lambda: LeaveUnread(serve_after=1.0, small_buffer=True), "expected one of the two"),
    ],
)
def test_an_act_before_the_request_is_read_that_cannot_be_is_not_built(build: Callable[[], Act], message: str) -> None:
    """Illegal combinations are refused with the reason."""
    with pytest.raises(ValueError, match=message):
        build()


def test_every_part_of_a_request_occurs() -> None:
    """A new member breaks the build until the catalogue shows it."""
    acts = [fault.act for fault in CATALOGUE.values()]
    assert {act.until for act in acts if isinstance(act, StopReading | AnswerEarly)} == set(Extent)
