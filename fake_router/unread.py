"""A connection that is accepted and left unread: the acts of a listener that strike after the handshake.

What has arrived is only looked at (MSG_PEEK), so the peer's bytes stay in its way as they would in a stalled router.
"""

import asyncio
from collections.abc import Callable
from typing import assert_never

from fake_router.entries import Striking, Struck, Witness
from fake_router.injector import ListenerStep
from fake_router.line import Line
from fake_router.routes import Probe, Work, unserved_work
from fake_router.switchboard import Switchboard
from fake_router.wire import Malformed, Request, RequestParser
from faults.acts import DropSyn, HoldPool, LeaveUnread, Misresolve, Refuse, ResetAtAccept, ResetUnread, Unreachable
from faults.handshake import DemandCertificate, ShowCertificate, SpoilHandshake

PEEK_BYTES = 32_768  # below what any accept leaves in a socket buffer; a request is taken to have arrived with it


class UnreadConnection:
    """Waits for a request's bytes, and then resets the connection, or serves it late, or never.

    The strike is opened when they have come, for only they tell whose it is: a probe's belongs to no operation.
    """

    __slots__ = ("_board", "_line", "_loop", "_seen", "_serve", "_step", "_struck", "_timer", "_work", "will_be_served")

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        board: Switchboard,
        line: Line,
        step: ListenerStep,
        serve: Callable[[Line], None],
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
            case ResetUnread() | LeaveUnread():
                line.on_readable(self._arriving)
            case HoldPool() | Misresolve() | Refuse() | Unreachable() | DropSyn():
                raise TypeError(f"{step.act!r} strikes before there is a connection")
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
        request: Request | None = None
        arrived = 0
        while data := self._line.read():
            arrived += len(data)
            for event in self._line.parser.feed(data):
                if isinstance(event, Request) and (request is None or self._is_probe(request)):
                    request = event
        if arrived and not (self._struck and self._is_probe(request)):  # such a probe is in the ledger
            if not self._struck and not self._is_probe(request):
                self._open_strike(self._whose(request))  # and not closed: its bytes were not seen to arrive
            self._line.unserved(request, arrived)
        if data is None:
            self._line.fin()
        else:
            self._line.gone()

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
        whole, request = _look_at(data)
        # No more can come, or woken without more: the peer ended. For one that reset it, libuv wakes once alone.
        if whole or len(data) in (PEEK_BYTES, self._seen) or self._line.is_reset():
            self._arrived(request, len(data))
            return
        self._seen = len(data)
        self._line.wake_at(self._seen + 1)

    def _arrived(self, request: Request | None, request_bytes: int) -> None:
        self._line.leave_unread()
        act, probe = self._step.act, self._is_probe(request)
        self._struck = True
        striking = self._open_strike(self._whose(request))
        if probe or isinstance(act, ResetUnread):
            self._line.unserved(request, request_bytes)
        if isinstance(act, ResetUnread):
            self._line.reset()
        self._board.ledger.record(Struck, striking=striking, witness=Witness.ACT)
        if isinstance(act, LeaveUnread) and act.serve_after is not None:
            self.will_be_served = True
            self._work = 0 if probe else 1
            self._board.busier(self._work)
            self._timer = self._loop.call_later(act.serve_after * self._step.read_timeout_s, self._serve_late)

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

    def _serve_late(self) -> None:
        self._line.wake_at(1)
        self._serve(self._line)
        self._board.busier(-self._work)

    def _reset_at_accept(self) -> None:
        striking = self._open_strike(self._step.operation)  # a probe's dial looks the same
        self._line.reset()
        self._board.ledger.record(Struck, striking=striking, witness=Witness.ACT)

    def _is_probe(self, request: Request | None) -> bool:
        return request is not None and isinstance(unserved_work(request, self._board.probes), Probe)

    def _open_strike(self, operation: int | None) -> int:
        return self._board.ledger.record(
            Striking,
            fault=self._step.fault,
            upstream=self._line.upstream,
            connection=self._line.number,
            operation=operation,
        )


def _look_at(data: bytes) -> tuple[bool, Request | None]:
    """Whether these bytes hold a whole request (or can never become one), and that request."""
    for event in RequestParser().feed(data):
        if isinstance(event, Request):
            return True, event
        if isinstance(event, Malformed):
            return True, None
    return False, None
