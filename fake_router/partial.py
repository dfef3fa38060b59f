"""A request of which a part is read: exactly so many bytes, and then the act that the fault asks for."""

import re
from collections.abc import Callable, Sequence
from typing import assert_never

from fake_router.entries import Replied, Replying
from fake_router.line import Line
from fake_router.replies import render_early
from fake_router.switchboard import Switchboard
from fake_router.wire import Event, Request
from faults.acts import AnswerEarly, StopReading
from faults.vocabulary import Ending, Extent

_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d{1,18})", re.IGNORECASE)


def bytes_of(part: Extent, data: bytes) -> int:
    """How many bytes that part of the request has whose beginning is `data`: its head, and something of its body.

    Of a body whose length no Content-Length tells it is half of what has come.
    """
    head = _after(data, b"\r\n\r\n")
    match part:
        case Extent.FIRST_BYTE:
            return 1
        case Extent.REQUEST_LINE:
            return _after(data, b"\r\n")
        case Extent.HEAD | Extent.EXPECTATION:
            return head
        case Extent.HALF_BODY:
            length = _LENGTH.search(data, 0, head)
            return head + (int(length[1]) if length else len(data) - head) // 2
        case _:
            assert_never(part)


def _after(data: bytes, mark: bytes) -> int:
    place = data.find(mark)
    return len(data) if place < 0 else place + len(mark)


class PartReading:
    """Reads up to the part of an act, and does what comes after it; then `struck` is called.

    `exchange`: the number of the exchange that an early answer belongs to; None for a probe's. `serve` gets the line
    of a connection that is kept, once the rest of its request has been thrown away, and what was read behind that.
    """

    __slots__ = ("_act", "_board", "_exchange", "_left", "_line", "_rest", "_serve", "_struck")

    def __init__(
        self,
        board: Switchboard,
        line: Line,
        act: StopReading | AnswerEarly,
        data: bytes,
        exchange: int | None,
        struck: Callable[[], None],
        serve: Callable[[Line, Sequence[Event]], None],
    ) -> None:
        self._board = board
        self._line = line
        self._act = act
        self._exchange = exchange
        self._struck = struck
        self._serve = serve
        self._left = bytes_of(act.until, data)
        self._rest: list[Event] | None = None  # what was read behind the request; None: it is not whole yet

    def begin(self) -> None:
        """Read what has come of the part, and wait for what has not."""
        self._line.wake_at(1)
        self._line.on_readable(self._reading)
        self._reading()

    def _reading(self) -> None:
        for data in self._line.pieces(self._left):
            if not data:
                self._line.gone()  # before the act: nothing was struck
                return
            self._left -= len(data)
            self._feed(data)
        if self._left:
            return
        self._line.leave_unread()
        if isinstance(self._act, AnswerEarly):
            self._answer(self._act)
            return
        if self._act.ending is not None:  # else it is drained after settling
            self._line.end(self._act.ending)
        self._struck()

    def _answer(self, act: AnswerEarly) -> None:
        data = render_early(act)
        ledger = self._board.ledger
        if self._exchange is not None:
            ledger.record(Replying, exchange=self._exchange, status=act.status, of_bytes=len(data))
        try:
            sent = self._line.send(data)
        except OSError:
            self._line.gone()  # it has met no answer
            return
        if self._exchange is not None:
            ledger.record(Replied, exchange=self._exchange, bytes_sent=sent, whole=sent == len(data))
        self._struck()
        if act.ending is None:
            self._line.on_readable(self._throwing_away)
            self._throwing_away()
        elif act.ending is Ending.RESET:
            self._line.abandon(fin=False)
        else:
            self._line.end(act.ending)

    def _throwing_away(self) -> None:
        for data in () if self._rest is not None else self._line.pieces():
            if not data:
                self._line.gone()
                return
            self._feed(data)
            if self._rest is not None:
                break
        if self._rest is not None:
            self._line.leave_unread()
            self._serve(self._line, self._rest)

    def _feed(self, data: bytes) -> None:
        for event in self._line.feed(data):
            if self._rest is not None:
                self._rest.append(event)
            elif isinstance(event, Request):
                self._rest = []
                self._line.owed = False
