"""One exchange as a table of transitions: events in, commands out. Nothing here touches a socket or the ledger.

EXECUTE is one command, so that no fault can strike inside it.
"""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import assert_never

import msgspec

from fake_router.commands import (
    AbandonReply,
    CloseStrike,
    Command,
    Commands,
    EndConnection,
    Execute,
    Leave,
    OpenStrike,
    Queue,
    Send,
    Serve,
    Wait,
)
from fake_router.injector import ListenerStep
from faults.acts import HEALTHY, End, ExchangeAct, Fragment, Hang, ReplyAct, needs_stream
from faults.answer import Answer
from faults.form import Form
from faults.truth import is_late
from faults.vocabulary import Ending, Framing, Side


class State(Enum):
    """Where an exchange stands."""

    READ = "the request was read whole, and nothing has been done"
    GATED = "held until its gate opens"
    QUEUED = "its work has not been taken on: others are in service"
    IN_SERVICE = "its work has been taken on, and its service time passes"
    DELAYED = "its reply waits"
    SENDING = "its reply is being handed to the kernel"
    SILENT = "it gets no reply, and its connection stays open"
    OVER = "over"

    __hash__ = object.__hash__  # members are singletons, and the table is looked up for every exchange


class Event(Enum):
    """What can happen to an exchange."""

    HOLD = "its gate is closed"
    START = "nothing holds it, or its gate has opened"
    SERVE = "the same, where work takes time"
    ADMITTED = "its work is taken on"
    SERVED = "its service time has passed"
    DELAY_OVER = "the time of its delay has passed"
    SENT = "the kernel has taken all that was to be sent"
    PEER_GONE = "the peer has ended the connection"
    HEAL = "faults end: nothing may stay silent"

    __hash__ = object.__hash__


Step = tuple[State, Commands]


def _begin(act: ExchangeAct) -> Step:
    before: Commands = (Execute(), OpenStrike()) if act.side is Side.AFTER else (OpenStrike(),)
    match act:
        case Hang():
            return State.SILENT, (*before, CloseStrike())
        case End(ending=ending):
            return State.OVER, (*before, EndConnection(ending=ending), CloseStrike())
        case Fragment():
            return State.SENDING, (*before, Send(act=act))
        case Answer():
            if act.delay is None:
                return State.SENDING, (*before, Send(act=act))
            return State.DELAYED, (*before, Wait(delay=act.delay))
        case _:
            assert_never(act)


def _enter(act: ExchangeAct) -> Step:
    """What strikes before EXECUTE strikes at once: no work is asked of anybody."""
    return (State.QUEUED, (Queue(),)) if act.side is Side.AFTER else _begin(act)


def _served(act: ExchangeAct) -> Step:
    state, commands = _begin(act)
    return state, tuple(command for command in commands if not isinstance(command, Execute))


def _answer_late(act: ExchangeAct) -> Step:
    return State.SENDING, (Send(act=_reply(act)),)


def _sent(act: ExchangeAct) -> Step:
    reply = _reply(act)
    if reply.ending is not None:
        return State.OVER, (EndConnection(ending=reply.ending), CloseStrike())
    stalls = isinstance(reply, Fragment) or reply.stalls
    return State.SILENT if stalls else State.OVER, (CloseStrike(),)


def _gone_while_delayed(act: ExchangeAct) -> Step:
    return State.OVER, _struck_by_silence(act)


def _gone_while_sending(act: ExchangeAct) -> Step:
    return State.OVER, (AbandonReply(), *_struck_by_silence(act))


def _struck_by_silence(act: ExchangeAct) -> Commands:
    """What lasts about a read timeout or more was there even if nobody waited for its end: its evidence is the
    silence. The evidence of any other act, a shorter delay included, is in bytes that were not handed over.
    """
    return (CloseStrike(),) if is_late(act) else ()


def _reply(act: ExchangeAct) -> ReplyAct:
    if not isinstance(act, ReplyAct):
        raise TypeError(f"{act!r} has no reply; expected an Answer or a Fragment")
    return act


def _to(state: State, *commands: Command) -> Callable[[ExchangeAct], Step]:
    return lambda act: (state, commands)


TABLE: Mapping[tuple[State, Event], Callable[[ExchangeAct], Step]] = {
    (State.READ, Event.HOLD): _to(State.GATED),
    (State.READ, Event.START): _begin,
    (State.READ, Event.SERVE): _enter,
    (State.GATED, Event.START): _begin,
    (State.GATED, Event.SERVE): _enter,
    (State.GATED, Event.PEER_GONE): _to(State.OVER),
    (State.GATED, Event.HEAL): _to(State.GATED),  # healing opens its gate, which is another event
    (State.QUEUED, Event.ADMITTED): _to(State.IN_SERVICE, Execute(), Serve()),
    (State.QUEUED, Event.PEER_GONE): _to(State.OVER, Leave()),
    (State.QUEUED, Event.HEAL): _to(State.QUEUED),  # service is no fault
    (State.IN_SERVICE, Event.SERVED): _served,
    (State.IN_SERVICE, Event.PEER_GONE): _to(State.OVER, Leave()),
    (State.IN_SERVICE, Event.HEAL): _to(State.IN_SERVICE),
    (State.DELAYED, Event.DELAY_OVER): _answer_late,
    (State.DELAYED, Event.PEER_GONE): _gone_while_delayed,
    (State.DELAYED, Event.HEAL): _to(State.DELAYED),  # it ends by itself
    (State.SENDING, Event.SENT): _sent,
    (State.SENDING, Event.PEER_GONE): _gone_while_sending,
    (State.SENDING, Event.HEAL): _to(State.SENDING),  # it ends by itself
    (State.SILENT, Event.PEER_GONE): _to(State.OVER),
    (State.SILENT, Event.HEAL): _to(State.OVER, EndConnection(ending=Ending.FIN)),
}


def _without_strike(step: Step) -> Step:
    state, commands = step
    return state, tuple([command for command in commands if not isinstance(command, OpenStrike | CloseStrike)])


# What no fault strikes is computed once: nearly every exchange under load is such a one.
_OF_HEALTHY: Mapping[tuple[State, Event], Step] = {
    point: _without_strike(transition(HEALTHY)) for point, transition in TABLE.items()
}


HEALTHY_START = _OF_HEALTHY[State.READ, Event.START]  # what a performer does without asking


class ImpossibleEventError(Exception):
    """An event came that cannot come in that state: a defect of the router itself."""


def reachable(act: ExchangeAct, form: Form, *, http10: bool) -> bool:
    """An HTTP/1.0 peer must get no chunked reply (RFC 9112 s6.1) and no interim response (RFC 9110 s15.2), so such a
    fault cannot strike it. One that strikes a stream alone cannot strike whoever asked for none.
    """
    if needs_stream(act) and not form.stream:
        return False
    if not http10 or not isinstance(act, ReplyAct):
        return True
    chunked = isinstance(act, Answer) and act.framing in (Framing.CHUNKED, Framing.TRAILERS)
    return not (chunked or act.interim)


class Exchange(msgspec.Struct, kw_only=True, gc=False):
    """One request on the wire and what becomes of it. `fault` None: nothing strikes, so no strike is recorded."""

    number: int
    operation: int | None
    choices: int
    form: Form
    read_timeout_s: float
    keep_alive: bool
    act: ExchangeAct = HEALTHY
    fault: str | None = None
    poison: ListenerStep | None = None  # the toxic that strikes it on its way
    execution: int = 0  # 0: not executed
    striking: int = 0  # the seq of its open Striking
    state: State = State.READ

    def on(self, event: Event) -> Commands:
        """What is to be done now. Raises ImpossibleEventError for an event that the table does not have."""
        point = self.state, event
        if self.fault is None and self.act is HEALTHY:
            step = _OF_HEALTHY.get(point)
        elif (transition := TABLE.get(point)) is None:
            step = None
        else:
            step = transition(self.act) if self.fault is not None else _without_strike(transition(self.act))
        if step is None:
            raise ImpossibleEventError(f"{event!r} in {self.state!r} of exchange {self.number}")
        self.state, commands = step
        return commands
