"""A listener whose application accepts nothing: what lies in its queue is known from the kernel alone."""

import asyncio
import socket
from collections.abc import Callable

from fake_router.entries import Closed, EndedBy, Striking, Struck, Unserved, Witness
from fake_router.injector import ListenerStep
from fake_router.kernel import unaccepted
from fake_router.line import Line
from fake_router.listener import Listener
from fake_router.switchboard import Switchboard

LOOK_S = 0.002  # between two looks at the bytes of a request: it has come when no more has come meanwhile
_WAIT_S = 0.02  # between two looks at the length of a queue that holds nothing new

Adopt = Callable[[socket.socket, int, int | None], Line | None]


class QueueFault:
    """From its arming to its healing: strikes every connection of its queue in which a request lies.

    It gives such a connection a number, for there is an attempt on it. `adopt` takes over an accepted socket with the
    peer's port: under that number, as a line that nobody serves; under none (None) as any other connection.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        board: Switchboard,
        listener: Listener,
        step: ListenerStep,
        *,
        closes: bool,
        adopt: Adopt,
    ) -> None:
        self._loop = loop
        self._board = board
        self._listener = listener
        self._step = step
        self._closes = closes
        self._adopt = adopt
        self._numbers: dict[int, int] = {}  # by the peer's port: of those that were struck and lie there still
        self._seen: dict[int, int] = {}  # bytes at the last look
        self._timer: asyncio.TimerHandle | None = None
        listener.hold(self._waiting)

    def drain(self) -> None:
        """Accept what lies in the queue, read it, record what was not served, and end it."""
        for sock, peer_port in self._listener.take_queue():
            line = self._adopt(sock, peer_port, self._numbers.pop(peer_port, None))
            if line is None:
                continue  # no request had come on it: it is served
            rest = line.read_rest()
            line.unserved(rest.request, rest.arrived)
            line.owed = rest.request is None
            if rest.ended:
                line.gone()
            else:
                line.fin()

    def close(self) -> None:
        """Look no more. Safe to call twice."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _waiting(self) -> None:
        """Something lies in the queue: whether its bytes have come, the listening socket does not tell."""
        self._listener.look_away()
        self._look()

    def _look(self) -> None:
        self._timer = None
        if self._listener.queued() == len(self._numbers):
            self._look_after(_WAIT_S)
            return
        found = {port: count for port, count in unaccepted(self._listener.port).items() if port not in self._numbers}
        whole = {port: count for port, count in found.items() if count and self._seen.get(port) == count}
        self._seen = found
        if self._closes and len(whole) == len(found) > 0:
            self._reset(whole)
            return
        if not self._closes:
            for port in whole:
                self._numbers[port] = number = self._board.next_connection()
                self._struck(self._open_strike(number))
        self._look_after(LOOK_S)

    def _look_after(self, wait_s: float) -> None:
        self._timer = self._loop.call_later(wait_s, self._look)

    def _reset(self, whole: dict[int, int]) -> None:
        """All of the queue at once, for the kernel resets all of it."""
        ledger = self._board.ledger
        strikes = []
        for count in whole.values():
            number = self._board.next_connection()
            strikes.append((number, self._open_strike(number)))
            ledger.record(
                Unserved, connection=number, upstream=self._step.upstream, operation=None, request_bytes=count
            )
        self._listener.reset_queue()
        self._seen = {}
        for number, striking in strikes:
            ledger.record(Closed, connection=number, by=EndedBy.ROUTER_RESET)
            self._struck(striking)

    def _open_strike(self, number: int) -> int:
        return self._board.ledger.record(
            Striking,
            fault=self._step.fault,
            upstream=self._step.upstream,
            connection=number,
            operation=self._step.operation,
        )

    def _struck(self, striking: int) -> None:
        self._board.ledger.record(Struck, striking=striking, witness=Witness.QUEUE)
