"""One connection whose requests are read: bytes go to the parser, requests to the performer, one after the other."""

import asyncio
from collections import deque
from collections.abc import Sequence
from time import monotonic_ns
from typing import assert_never

from fake_router.digest import digest_of_body
from fake_router.entries import Received, Rejected
from fake_router.exchange import Event, Exchange, reachable
from fake_router.injector import HEALTHY_STEP
from fake_router.line import EVENTS_AT_ONCE, READS_AT_ONCE, Line
from fake_router.performer import Performer
from fake_router.replies import small_json
from fake_router.reply_heads import CONTINUE
from fake_router.routes import SAFE_METHODS, Probe, Refusal, Work, route
from fake_router.switchboard import Switchboard
from fake_router.wire import MAX_BODY_BYTES, Expecting, Malformed, Request
from fake_router.wire import Event as WireEvent

MAX_WAITING_BYTES = MAX_BODY_BYTES  # of their bodies together
MAX_WAITING = 1_000  # requests that a peer has pipelined behind an open exchange; more stay in the kernel


class Connection:
    """Serves the requests of one line, one after the other."""

    __slots__ = ("_board", "_full", "_line", "_loop", "_performer", "_queue")

    def __init__(self, loop: asyncio.AbstractEventLoop, board: Switchboard, line: Line) -> None:
        self._loop = loop
        self._board = board
        self._line = line
        self._queue: deque[WireEvent] = deque()
        self._full = False  # nothing more is read until the queue has been worked off
        self._performer = Performer(loop, board, line, self._over)
        line.on_readable(self.read_now)

    @property
    def idle(self) -> bool:
        """No exchange is open, no byte of a request has come, and the connection has not ended."""
        return not (self._performer.exchange or self._queue or self._line.parser.unfinished_bytes or self._line.over)

    def heal(self) -> None:
        """A silent exchange ends with FIN; all others end by themselves."""
        if self._performer.exchange is not None:
            self._performer.apply(Event.HEAL)

    def drop_idle(self) -> None:
        """End it with FIN if it is idle."""
        if self.idle:
            self._line.fin()

    def drain(self) -> None:
        """As healing; nothing lies unread here."""
        self.heal()

    def abort_unless_idle(self) -> None:
        """End an open exchange as if its peer had gone, and close the connection."""
        if not self.idle:
            if self._performer.exchange is not None:
                self._performer.apply(Event.PEER_GONE)
            self.close()

    def close(self) -> None:
        """Free what it holds, without a word to the ledger."""
        self._performer.forget()
        self._line.release()

    # What arrives.

    def read_now(self) -> None:
        """Take in what has arrived, if anything has.

        It reads on until nothing waits: for a socket that its peer has reset, libuv calls once and never again. Where
        everything that came was answered, a send has shown that the peer is there.
        """
        for _ in range(0 if self._line.reading_on else READS_AT_ONCE):  # as Line.pieces, which would cost each request
            if self._line.over or self._performer.peer_ended or self._full:
                return
            data = self._line.read()
            if data is None:
                return
            if not data:
                self._peer_gone()
                return
            events = self._line.parser.feed(data)
            if len(events) == 1 and not self._queue and self._performer.exchange is None:
                self._take(events[0])
                if self._performer.exchange is None and not self._line.parser.begun:
                    return  # nearly always
            else:
                self._queue.extend(events)
                self._work_off()
                if events and self.idle:
                    return
            if len(self._queue) > MAX_WAITING or self._waiting_bytes() > MAX_WAITING_BYTES:
                self._full = True
                self._line.leave_unread()
                return
            if len(events) > EVENTS_AT_ONCE:
                break
        self._line.read_on()

    def _waiting_bytes(self) -> int:
        return sum(len(event.body) for event in self._queue if isinstance(event, Request))

    def work_off(self, read: Sequence[WireEvent]) -> None:
        """Take in what was read before it was this connection's."""
        self._queue.extend(read)
        self._work_off()

    def _work_off(self) -> None:
        while self._queue and self._performer.exchange is None and not self._line.over:
            self._take(self._queue.popleft())
        if self._full and not self._queue and not self._line.over:
            self._full = False
            self._line.on_readable(self.read_now)
            self._loop.call_soon(self.read_now)

    def _take(self, event: WireEvent) -> None:
        match event:
            case Request():
                self._request(event)
            case Malformed():
                self._refuse(event.status, event.why, close=True)
            case Expecting():
                self._send_small(CONTINUE, close=False)
            case _:
                assert_never(event)

    def _request(self, request: Request) -> None:
        asked = route(request, self._board.probes)
        match asked:
            case Work():
                self._begin(request, asked)
            case Probe():
                self._probe(request, asked.status, asked.answer)
            case Refusal():
                if request.method in SAFE_METHODS:
                    self._probe(request, asked.status, {"error": {"message": asked.why}}, allow=asked.allow)
                else:
                    close, came = not request.keep_alive, len(request.body)
                    self._refuse(asked.status, asked.why, close=close, allow=asked.allow, body_bytes=came)
            case _:
                assert_never(asked)

    def _probe(self, request: Request, status: int, answer: object, *, allow: str = "") -> None:
        self._line.probed(request, status)
        close = not request.keep_alive
        data = small_json(status, answer, close=close, allow=allow, body_withheld=request.method == "HEAD")
        self._send_small(data, close=close)

    def _refuse(self, status: int, why: str, *, close: bool, allow: str = "", body_bytes: int | None = None) -> None:
        line, record = self._line, self._board.ledger.record
        record(Rejected, connection=line.number, upstream=line.upstream, status=status, why=why, body_bytes=body_bytes)
        self._send_small(small_json(status, {"error": {"message": why}}, close=close, allow=allow), close=close)

    def _send_small(self, data: bytes, *, close: bool) -> None:
        """These fit into any socket buffer; a peer that lets not even them pass has stopped reading."""
        try:
            whole = self._line.send(data) == len(data)
        except OSError:
            self._line.gone()
            return
        if not whole:
            self._line.reset()
        elif close:
            self._line.fin()

    def _peer_gone(self) -> None:
        self._performer.peer_ended = True
        if self._performer.taking_bytes:
            # A peer that has only ended its own side still reads; one that is gone makes the next send fail.
            self._line.leave_unread()
            return
        if self._performer.exchange is not None:
            self._performer.apply(Event.PEER_GONE)
        if not self._line.over:
            self._end_by_peer()

    def _end_by_peer(self) -> None:
        self._drop_queue()
        if self._line.parser.unfinished_bytes:
            self._line.unserved(None, self._line.parser.unfinished_bytes)
        self._line.gone()

    def _drop_queue(self) -> None:
        for event in self._queue:
            if isinstance(event, Request):
                self._line.unserved(event, len(event.body))
        self._queue.clear()

    # The exchange.

    def _begin(self, request: Request, work: Work) -> None:
        board, line, operation = self._board, self._line, work.operation
        number, of_operation, step = board.next_exchange(operation, line.upstream)
        line.nth += 1
        ledger = board.ledger
        received = Received(
            seq=ledger.next_seq,
            at_ns=monotonic_ns(),
            exchange=number,
            connection=line.number,
            upstream=line.upstream,
            nth=line.nth,
            operation=operation,
            of_operation=of_operation,
            body_bytes=len(request.body),
            body_digest=None if operation is None else digest_of_body(request.body),
            content_digest=work.content_digest,
            api=work.form.word,
            stream=work.form.stream,
        )
        ledger.append(received if work.form.is_bare else received.asking(work.form))
        exchange = Exchange(
            number=number,
            operation=operation,
            choices=work.choices,
            form=work.form,
            read_timeout_s=step.read_timeout_s,
            keep_alive=request.keep_alive,
        )
        if step is not HEALTHY_STEP and (step.fault is None or reachable(step.act, work.form, http10=request.http10)):
            exchange.act, exchange.fault, exchange.poison = step.act, step.fault, step.poison
        if operation is not None:
            board.busier(1)
        if step.opens is not None:
            board.open_gate(step.opens)
        self._performer.begin(exchange, step.gate)

    def _over(self, exchange: Exchange) -> None:
        if not self._line.over:
            if self._performer.peer_ended or self._performer.peer_lost:
                self._end_by_peer()
            elif not exchange.keep_alive:
                self._line.fin()
        if exchange.operation is not None:
            self._board.busier(-1)
        if self._line.over:
            self._drop_queue()
        elif self._queue:
            self._loop.call_soon(self._work_off)
