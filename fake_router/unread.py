"""A connection that a listener's fault holds: a new one, or one that lay idle until then; it is not read as it should.

What has arrived is only looked at (MSG_PEEK) until the request lies there, so the peer's bytes stay in its way as they
would in a stalled router, and whose they are is known all the same.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple, assert_never

from fake_router.entries import Striking, Struck, Witness
from fake_router.injector import ListenerStep
from fake_router.line import Line
from fake_router.partial import PartReading
from fake_router.routes import Probe, Work, unserved_work
from fake_router.switchboard import Switchboard
from fake_router.wire import Event, Expecting, Request, RequestParser
from faults.acts import (
    AnswerEarly,
    DropSyn,
    EndIdle,
    EndUnread,
    HoldPool,
    LeaveUnread,
    Misresolve,
    NeverAccept,
    Refuse,
    ResetAtAccept,
    StopReading,
    Unreachable,
    needs_expectation,
)
from faults.disturbance import Disturb
from faults.handshake import DemandCertificate, ShowCertificate, SpoilHandshake
from faults.poison import Poison

PEEK_BYTES = 32_768  # below what any accept leaves in a socket buffer; a request is taken to have arrived with it


class UnreadConnection:
    """Waits for a request's bytes, and then ends the connection, reads a part of them, or serves it late, or never.

    The strike is opened when they have come, for only they tell whose it is: a probe's belongs to no operation.
    """

    __slots__ = (
        "_board",
        "_line",
        "_loop",
        "_seen",
        "_serve",
        "_step",
        "_struck",
        "_timer",
        "_work",
        "will_be_served",
    )

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        board: Switchboard,
        line: Line,
        step: ListenerStep,
        serve: Callable[[Line, Sequence[Event]], None],
    ) -> None:
        self.will_be_served = False
        self._loop = loop
        self._board = board
        self._line = line
        self._step = step
        self._serve = serve
        self._seen = 0
        self._struck = False
        self._work = 0  # 1: what will be served may carry an operation
        self._timer: asyncio.TimerHandle | None = None
        match step.act:
            case ResetAtAccept():
                self._reset_at_accept()
            case EndUnread() | LeaveUnread() | StopReading() | AnswerEarly():
                line.on_readable(self._arriving)
            case HoldPool() | Misresolve() | Refuse() | Unreachable() | DropSyn() | NeverAccept() | EndIdle():
                raise TypeError(f"{step.act!r} holds no connection that is accepted; expected an act that does")
            case Poison() | Disturb():
                raise TypeError(f"{step.act!r} holds no connection that is accepted; expected an act that does")
            case SpoilHandshake() | ShowCertificate() | DemandCertificate():
                raise TypeError(f"{step.act!r} leaves no connection unread; expected an act that does")
            case _:
                assert_never(step.act)

    def drop_idle(self) -> None:
        """It is not idle: a fault holds it."""

    def heal(self) -> None:
        """What is left unread stays so until it is drained; what will be served will be."""

    def drain(self) -> None:
        """Read what lies here and will never be served, record it, and end the connection."""
        if self.will_be_served or self._line.over:
            return
        rest = self._line.read_rest()
        owed, self._line.owed = self._line.owed, rest.request is None and (rest.arrived > 0 or self._line.owed)
        if rest.arrived and not owed:
            if not self._struck and not self._is_probe(rest.request):
                self._open_strike(self._whose(rest.request))  # and not closed: its bytes were not seen to arrive
            self._line.unserved(rest.request, rest.arrived)
        if rest.ended:
            self._line.gone()
        else:
            self._line.fin()

    def abort_unless_idle(self) -> None:
        """Close the connection with its bytes unread."""
        self.close()
        if self.will_be_served:
            self._board.busier(-self._work)

    def close(self) -> None:
        """Free what it holds, without a word to the ledger."""
        if self._timer is not None:
            self._timer.cancel()
        self._line.release()

    def _arriving(self) -> None:
        data = self._line.peek(PEEK_BYTES)
        if data is None:
            return
        if not data:
            self._line.gone()  # it carried no request: nothing was struck
            return
        look = _look_at(data)
        # No more can come, or woken without more: the peer ended. For one that reset it, libuv wakes once alone.
        no_more = len(data) in (PEEK_BYTES, self._seen) or self._line.is_reset()
        if look.whole or no_more or self._takes_little:
            if needs_expectation(self._step.act) and not look.expecting:
                self._line.wake_at(1)
                self._serve(self._line, ())  # it expects nothing that could be withheld
            else:
                self._arrived(look.request, data)
            return
        self._seen = len(data)
        self._line.wake_at(self._seen + 1)

    @property
    def _takes_little(self) -> bool:
        """No more than this may ever arrive."""
        return isinstance(self._step.act, LeaveUnread) and self._step.act.small_buffer

    def _arrived(self, request: Request | None, data: bytes) -> None:
        self._line.leave_unread()
        self._struck = True
        act, operation = self._step.act, self._whose(request)
        match act:
            case LeaveUnread():
                striking = self._open_strike(operation)
                if self._is_probe(request):
                    self._unserved(request, len(data))
                self._close_strike(striking)
                if act.serve_after is not None:
                    self._serve_after(act.serve_after, 0 if self._is_probe(request) else 1)
            case EndUnread():
                striking = self._open_strike(operation)
                self._unserved(request, len(data))
                self._end(act)
                self._close_strike(striking)
            case StopReading() | AnswerEarly():
                exchange = self._board.next_early() if isinstance(act, AnswerEarly) and operation is not None else None
                striking = self._open_strike(operation, exchange)
                self._unserved(request, len(data))
                self.will_be_served = isinstance(act, AnswerEarly) and act.ending is None
                PartReading(
                    self._board, self._line, act, data, exchange, lambda: self._close_strike(striking), self._serve
                ).begin()
            case _:
                raise TypeError(f"{act!r} waits for no request")

    def _end(self, act: EndUnread) -> None:
        if act.abandoned:
            self._line.abandon(fin=True)
        else:
            self._line.end(act.ending)

    def _unserved(self, request: Request | None, request_bytes: int) -> None:
        """Its entry is made now; its bytes may still be read."""
        self._line.unserved(request, request_bytes)
        self._line.owed = True

    def _whose(self, request: Request | None) -> int | None:
        """The operation whose sending it is; None for a probe. What names no other is taken for the plan's."""
        work = None if request is None else unserved_work(request, self._board.probes)
        match work:
            case Probe():
                return None
            case Work(operation=int() as named):
                return named
            case _:
                return self._step.operation

    def _serve_after(self, delay: float, work: int) -> None:
        self.will_be_served = True
        self._work = work
        self._board.busier(work)
        self._timer = self._loop.call_later(delay * self._step.read_timeout_s, self._serve_late)

    def _serve_late(self) -> None:
        self._line.owed = False
        self._line.wake_at(1)
        self._serve(self._line, ())
        self._board.busier(-self._work)

    def _reset_at_accept(self) -> None:
        striking = self._open_strike(self._step.operation)  # a probe's dial looks the same
        self._line.reset()
        self._close_strike(striking)

    def _is_probe(self, request: Request | None) -> bool:
        return request is not None and self._board.is_probe(request)

    def _open_strike(self, operation: int | None, exchange: int | None = None) -> int:
        return self._board.ledger.record(
            Striking,
            fault=self._step.fault,
            upstream=self._line.upstream,
            connection=self._line.number,
            exchange=exchange,
            operation=operation,
        )

    def _close_strike(self, striking: int) -> None:
        self._board.ledger.record(Struck, striking=striking, witness=Witness.ACT)


class _Look(NamedTuple):
    """What bytes hold. whole: a request that is all there, can never be one, or waits for 100 Continue."""

    whole: bool
    request: Request | None
    expecting: bool


def _look_at(data: bytes) -> _Look:
    events = RequestParser().feed(data)
    request = next((event for event in events if isinstance(event, Request)), None)
    return _Look(bool(events), request, any(isinstance(event, Expecting) for event in events))
