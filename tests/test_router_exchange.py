"""The exchange: its table is total where it must be, and every act is the commands that its truth promises."""

import itertools

import pytest

from fake_router.commands import (
    AbandonReply,
    CloseStrike,
    Command,
    EndConnection,
    Execute,
    Leave,
    OpenStrike,
    Queue,
    Send,
    Serve,
    Wait,
)
from fake_router.exchange import (
    HEALTHY_START,
    TABLE,
    Event,
    Exchange,
    ImpossibleEventError,
    State,
    reachable,
)
from faults.acts import HEALTHY, ExchangeAct, Fragment, is_listener_act, needs_stream
from faults.answer import Answer
from faults.catalogue import CATALOGUE
from faults.fault import Fault
from faults.form import COMPLETION, STREAM
from faults.truth import truth_of
from faults.vocabulary import Ending, Framing, Point, Replied, Side

EXCHANGE_FAULTS = [fault for fault in CATALOGUE.values() if not is_listener_act(fault.act)]


def _exchange(act: ExchangeAct = HEALTHY, *, fault: str | None = "f", state: State = State.READ) -> Exchange:
    return Exchange(
        number=1,
        operation=1,
        choices=1,
        form=COMPLETION,
        act=act,
        fault=fault,
        read_timeout_s=1.0,
        keep_alive=True,
        state=state,
    )


def _act(fault: Fault) -> ExchangeAct:
    act = fault.act
    assert not is_listener_act(act)
    return act  # type: ignore[return-value]  # the assertion above is what the type checker cannot see


_NEXT = {
    State.QUEUED: Event.ADMITTED,
    State.IN_SERVICE: Event.SERVED,
    State.DELAYED: Event.DELAY_OVER,
    State.SENDING: Event.SENT,
    State.SILENT: Event.HEAL,
}


def _lived_through(exchange: Exchange, begins_with: Event = Event.START) -> list[Command]:
    """All commands of an exchange whose peer waits for ever and whose silence is healed."""
    done: list[Command] = []
    event: Event | None = begins_with
    while event is not None:
        done += exchange.on(event)
        event = _NEXT.get(exchange.state)
    assert exchange.state is State.OVER
    return done


def test_what_a_performer_does_without_asking_is_what_the_table_says() -> None:
    """A healthy exchange that nothing holds is executed and answered, and nothing else."""
    state, commands = HEALTHY_START
    assert (state, commands) == (State.SENDING, (Execute(), Send(act=HEALTHY)))
    assert _exchange(fault=None).on(Event.START) == commands


@pytest.mark.parametrize("pair", list(itertools.product(State, Event)), ids=str)
def test_every_pair_of_state_and_event_is_in_the_table_or_impossible(pair: tuple[State, Event]) -> None:
    """A pair that is not in the table raises, and changes nothing."""
    if pair in TABLE:
        return
    exchange = _exchange(state=pair[0])
    with pytest.raises(ImpossibleEventError):
        exchange.on(pair[1])
    assert exchange.state is pair[0]


def test_an_open_exchange_can_always_end_by_its_peer_and_over_is_over() -> None:
    held = {State.GATED, State.QUEUED, State.IN_SERVICE, State.DELAYED, State.SENDING, State.SILENT}
    assert {state for state, event in TABLE if event is Event.PEER_GONE} == held
    assert {state for state, event in TABLE if event is Event.HEAL} == held
    assert not [state for state, _ in TABLE if state is State.OVER]


@pytest.mark.parametrize("fault", EXCHANGE_FAULTS, ids=lambda fault: fault.id)
def test_every_act_does_what_its_truth_says(fault: Fault) -> None:
    done = _lived_through(_exchange(_act(fault)))
    truth = truth_of(fault.act)
    sends = [command for command in done if isinstance(command, Send)]
    assert done.count(Execute()) == (1 if truth.executed else 0)
    assert bool(sends) == (truth.replied is not Replied.NOTHING)
    assert done.count(OpenStrike()) == done.count(CloseStrike()) == 1


@pytest.mark.parametrize("fault", EXCHANGE_FAULTS, ids=lambda fault: fault.id)
def test_execute_comes_before_the_strike_and_the_strike_is_opened_before_its_act(fault: Fault) -> None:
    done = _lived_through(_exchange(_act(fault)))
    opened, closed = done.index(OpenStrike()), done.index(CloseStrike())
    if Execute() in done:
        assert done.index(Execute()) < opened
    for place, command in enumerate(done):
        if isinstance(command, Send | Wait):
            assert opened < place < closed
    assert opened < closed


@pytest.mark.parametrize("fault", EXCHANGE_FAULTS, ids=lambda fault: fault.id)
def test_twins_differ_in_execute_alone(fault: Fault) -> None:
    """What a twin on the other side of EXECUTE does to its peer is the same."""
    if fault.twin is None or fault.id.rsplit("-", 1)[0] != fault.twin.rsplit("-", 1)[0]:
        return
    mine = _lived_through(_exchange(_act(fault)))
    other = _lived_through(_exchange(_act(CATALOGUE[fault.twin])))
    on_the_wire = [type(command) for command in mine if not isinstance(command, Execute)]
    assert on_the_wire == [type(command) for command in other if not isinstance(command, Execute)]
    assert (Execute() in mine) != (Execute() in other)


def test_what_no_fault_strikes_leaves_no_strike() -> None:
    assert _lived_through(_exchange(fault=None)) == [Execute(), Send(act=HEALTHY)]


@pytest.mark.parametrize("fault", EXCHANGE_FAULTS, ids=lambda fault: fault.id)
def test_service_adds_its_own_commands_alone_and_only_where_work_is_done(fault: Fault) -> None:
    """It passes between EXECUTE and the strike: what was taken on is done, whoever waits for it."""
    done = _lived_through(_exchange(_act(fault)), Event.SERVE)
    own = [Queue(), Execute(), Serve()] if truth_of(fault.act).executed else []
    assert done[: len(own)] == own
    at_once = _lived_through(_exchange(_act(fault)))
    assert [command for command in done if not isinstance(command, Queue | Serve)] == at_once


def test_a_peer_that_leaves_the_queue_leaves_nothing_executed_and_one_that_leaves_service_what_was_executed() -> None:
    exchange = _exchange()
    assert exchange.on(Event.SERVE) == (Queue(),)
    assert exchange.on(Event.PEER_GONE) == (Leave(),)
    exchange = _exchange()
    exchange.on(Event.SERVE)
    assert exchange.on(Event.ADMITTED) == (Execute(), Serve())
    assert exchange.on(Event.PEER_GONE) == (Leave(),)
    assert exchange.state is State.OVER


def test_a_gate_holds_the_work_before_it_is_accepted() -> None:
    exchange = _exchange(fault=None)
    assert exchange.on(Event.HOLD) == ()
    assert exchange.state is State.GATED
    assert exchange.on(Event.HEAL) == ()
    assert exchange.on(Event.START)[0] == Execute()


def test_a_peer_that_leaves_at_a_gate_leaves_nothing_executed_and_nothing_struck() -> None:
    exchange = _exchange()
    exchange.on(Event.HOLD)
    assert exchange.on(Event.PEER_GONE) == ()
    assert exchange.state is State.OVER


@pytest.mark.parametrize(("delay", "struck"), [(2.0, True), (1.0, True), (0.5, False)])
def test_a_delay_beyond_the_read_timeout_strikes_also_when_the_peer_leaves_before_its_end(
    delay: float, struck: bool
) -> None:
    """Its evidence is the silence; that of a shorter delay is the reply, which nobody saw."""
    exchange = _exchange(Answer(side=Side.AFTER, delay=delay))
    assert exchange.on(Event.START) == (Execute(), OpenStrike(), Wait(delay=delay))
    assert exchange.on(Event.PEER_GONE) == ((CloseStrike(),) if struck else ())
    assert exchange.state is State.OVER


def test_a_reply_that_the_peer_did_not_let_through_is_no_strike() -> None:
    """A fault whose bytes were not handed over has not happened; a delay beyond the read timeout has."""
    quick = _exchange(Answer(side=Side.AFTER))
    quick.on(Event.START)
    assert quick.on(Event.PEER_GONE) == (AbandonReply(),)
    late = _exchange(Answer(side=Side.AFTER, delay=2.0))
    late.on(Event.START)
    late.on(Event.DELAY_OVER)
    assert late.on(Event.PEER_GONE) == (AbandonReply(), CloseStrike())
    soon = _exchange(Answer(side=Side.AFTER, delay=0.5))
    soon.on(Event.START)
    soon.on(Event.DELAY_OVER)
    assert soon.on(Event.PEER_GONE) == (AbandonReply(),)


def test_healing_ends_silence_with_fin_and_lets_all_else_end_by_itself() -> None:
    silent = _exchange(_act(CATALOGUE["silence-before"]))
    silent.on(Event.START)
    assert silent.on(Event.HEAL) == (EndConnection(ending=Ending.FIN),)
    late = _exchange(Answer(side=Side.AFTER, delay=2.0))
    late.on(Event.START)
    assert late.on(Event.HEAL) == ()
    assert late.state is State.DELAYED


@pytest.mark.parametrize("fault", EXCHANGE_FAULTS, ids=lambda fault: fault.id)
def test_http_1_0_is_out_of_reach_of_chunked_replies_and_interim_responses_alone(fault: Fault) -> None:
    """RFC 9112 s6.1 and RFC 9110 s15.2: neither must be sent to an HTTP/1.0 peer."""
    act = _act(fault)
    chunked = isinstance(act, Answer) and act.framing in (Framing.CHUNKED, Framing.TRAILERS)
    interim = isinstance(act, Answer | Fragment) and act.interim != ()
    assert reachable(act, STREAM, http10=True) is not (chunked or interim)
    assert reachable(act, STREAM, http10=False)
    assert reachable(act, COMPLETION, http10=False) is not needs_stream(act)


def test_a_reply_that_stalls_leaves_its_connection_open_until_the_peer_has_gone_or_faults_end() -> None:
    stalled = _exchange(Answer(side=Side.AFTER, cut=Point.HALF))
    stalled.on(Event.START)
    assert stalled.on(Event.SENT) == (CloseStrike(),)
    assert stalled.state is State.SILENT
    assert stalled.on(Event.HEAL) == (EndConnection(ending=Ending.FIN),)
