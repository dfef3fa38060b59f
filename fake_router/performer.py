"""Performs the commands of one connection's exchanges: entries into the ledger, bytes and endings onto the line.

It decides nothing: what to do when is in the table of `exchange`, what strikes is in the plans.
"""

import asyncio
from collections.abc import Callable
from time import monotonic_ns
from typing import assert_never

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
from fake_router.entries import Accepted, Executed, Replied, Replying, Striking, Struck, Witness
from fake_router.exchange import Event, Exchange, State
from fake_router.injector import GateKey, ListenerStep, poison_gate
from fake_router.line import Line
from fake_router.replies import render
from fake_router.sender import HoldAt, Sender
from fake_router.switchboard import Switchboard
from faults.acts import HEALTHY, ReplyAct

# At hand: a member of an enum is looked up slowly.
_OVER, _SENDING, _SENT, _START = State.OVER, State.SENDING, Event.SENT, Event.START


class Performer:
    """One exchange at a time, from its receipt until it is over; then `over` is called with it."""

    __slots__ = (
        "_board",
        "_line",
        "_loop",
        "_over",
        "_sender",
        "_timer",
        "_waited",
        "exchange",
        "peer_ended",
        "peer_lost",
    )

    def __init__(
        self, loop: asyncio.AbstractEventLoop, board: Switchboard, line: Line, over: Callable[[Exchange], None]
    ) -> None:
        self.exchange: Exchange | None = None
        self.peer_ended = False  # its FIN, or an error, was read
        self.peer_lost = False  # a send has failed
        self._loop = loop
        self._board = board
        self._line = line
        self._over = over
        self._sender = Sender(loop, line, self._sent)
        self._timer: asyncio.TimerHandle | None = None
        self._waited = False  # a timer, a gate or the kernel may still call for the exchange that is over

    def begin(self, exchange: Exchange, gate: GateKey | None) -> None:
        """Start it, or hold it until that gate opens."""
        self.exchange = exchange
        if gate is None or self._board.is_open(gate):
            self._start(exchange)
        else:
            if exchange.poison is not None:
                exchange.striking = self._open_strike(exchange)  # it strikes what is held
            self.apply(Event.HOLD)
            self._board.hold_at(gate, lambda: self._released(exchange))

    def apply(self, event: Event | None) -> None:
        """Let that event happen to the exchange that is open."""
        exchange = self.exchange
        assert exchange is not None
        while event is not None:
            following = None
            for command in exchange.on(event):
                following = self._perform(exchange, command) or following
            event = following
            if event is None and self.peer_ended and exchange.state is State.SILENT:
                event = Event.PEER_GONE  # it ended its side while bytes were still being taken
        if exchange.state is _OVER:
            self.exchange = None
            if self._waited:
                self.forget()
            self._over(exchange)

    def forget(self) -> None:
        """No timer wakes it any more."""
        self._waited = False
        self._sender.stop()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _released(self, exchange: Exchange) -> None:
        """Its gate has opened; the peer may have gone before."""
        if exchange is self.exchange:
            self._start(exchange)

    def _start(self, exchange: Exchange) -> None:
        event: Event | None = self._board.serving.begins_with
        if event is _START and exchange.act is HEALTHY and exchange.fault is None:
            # Nearly every exchange under load: what the table says of it (HEALTHY_START), without asking it.
            self._execute(exchange)
            exchange.state = _SENDING
            event = self._send(exchange, HEALTHY)
        self.apply(event)

    def _perform(self, exchange: Exchange, command: Command) -> Event | None:
        match command:
            case Execute():
                self._execute(exchange)
            case Send():
                return self._send(exchange, command.act)
            case Queue():
                return self._board.serving.queue(exchange.number, self.apply)
            case Serve():
                return self._board.serving.serve(exchange.number, self.apply)
            case Leave():
                self._board.serving.leave(exchange.number)
            case OpenStrike():
                exchange.striking = exchange.striking or self._open_strike(exchange)
            case CloseStrike():
                if exchange.poison is None:  # of a toxic, Toxiproxy is the witness
                    self._board.ledger.record(Struck, striking=exchange.striking, witness=Witness.ACT)
            case Wait():
                self._waited = True
                delay_s = command.delay * exchange.read_timeout_s
                self._timer = self._loop.call_later(delay_s, self.apply, Event.DELAY_OVER)
            case AbandonReply():
                self._replied(exchange)
            case EndConnection():
                self._line.end(command.ending)
            case _:
                assert_never(command)
        return None

    def _execute(self, exchange: Exchange) -> None:
        number, execution = exchange.number, self._board.next_execution()
        exchange.execution = execution
        ledger, now = self._board.ledger, monotonic_ns()
        ledger.append(Accepted(seq=ledger.next_seq, at_ns=now, exchange=number))
        ledger.append(
            Executed(seq=ledger.next_seq, at_ns=now, exchange=number, execution=execution, choices=exchange.choices)
        )

    def _open_strike(self, exchange: Exchange) -> int:
        if exchange.poison is not None:
            line = self._line
            return self._board.poisons.open_strike(
                self._board.ledger,
                exchange.poison,
                line.number,
                lambda: line.over,
                exchange=exchange.number,
                operation=exchange.operation,
            )
        assert exchange.fault is not None
        return self._board.ledger.record(
            Striking,
            fault=exchange.fault,
            upstream=self._line.upstream,
            connection=self._line.number,
            exchange=exchange.number,
            operation=exchange.operation,
        )

    # The reply.

    @property
    def taking_bytes(self) -> bool:
        """The kernel still has to take bytes of a reply. In a gap it does not: there the peer's end is its leaving."""
        return self.exchange is not None and self.exchange.state is State.SENDING and not self._sender.pausing

    def _send(self, exchange: Exchange, act: ReplyAct) -> Event | None:
        reply = render(
            act,
            exchange.operation,
            exchange.execution,
            exchange.choices,
            exchange.form,
            close=not exchange.keep_alive,
        )
        ledger = self._board.ledger
        ledger.append(
            Replying(
                seq=ledger.next_seq,
                at_ns=monotonic_ns(),
                exchange=exchange.number,
                status=reply.status,
                of_bytes=reply.of_bytes,
            )
        )
        hold = None if exchange.poison is None else self._hold_at(exchange.poison)
        all_sent = self._sender.begin(reply, exchange.read_timeout_s, hold)
        if all_sent is None:
            self._waited = True
            return None
        return self._event_of(exchange, all_sent)

    def _hold_at(self, poison: ListenerStep) -> HoldAt:
        """Where its reply is held until that toxic is set."""
        board, gate = self._board, (0, poison_gate(poison.upstream))

        def hold(released: Callable[[], None]) -> bool:
            if board.is_open(gate):
                return False
            board.hold_at(gate, released)
            return True

        return hold

    def _sent(self, all_sent: bool) -> None:
        exchange = self.exchange
        assert exchange is not None
        self.apply(self._event_of(exchange, all_sent))

    def _event_of(self, exchange: Exchange, all_sent: bool) -> Event:
        if all_sent:
            self._replied(exchange)
            return _SENT
        self.peer_lost = True
        return Event.PEER_GONE

    def _replied(self, exchange: Exchange) -> None:
        """How much of it the kernel took; whole: that is all of a reply that becomes whole."""
        sender, ledger = self._sender, self._board.ledger
        ledger.append(
            Replied(
                seq=ledger.next_seq,
                at_ns=monotonic_ns(),
                exchange=exchange.number,
                bytes_sent=sender.handed,
                whole=sender.whole,
            )
        )
