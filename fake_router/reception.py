"""Whatever connects to a router: each connection is served, or met by a fault, from its acceptance to its end."""

import asyncio
import socket
from collections.abc import Callable, Sequence
from functools import partial

from fake_router.connection import Connection
from fake_router.identity import Identity
from fake_router.idle import end_idle
from fake_router.injector import ListenerStep
from fake_router.line import Line
from fake_router.switchboard import Switchboard
from fake_router.tls_handshake import HandshakeConnection, greeting_of
from fake_router.tls_line import TlsLine
from fake_router.unread import UnreadConnection
from fake_router.wire import Event
from faults.acts import EndIdle
from faults.handshake import HandshakeAct
from faults.poison import Poison


class Reception:
    """The connections of one router. identity: who it is under TLS, which all of them speak then.

    `begin` comes before anything else is asked of it.
    """

    def __init__(self, board: Switchboard, identity: Identity | None) -> None:
        self._board = board
        self._identity = identity
        self._served: dict[Line, Connection | UnreadConnection | HandshakeConnection] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    def begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """On that loop its connections live."""
        self._loop = loop
        if self._identity is not None:
            self._identity.context()  # now, and not while a first peer waits for its handshake

    def accepted(self, upstream: int, sock: socket.socket, peer_port: int) -> None:
        """A listener has accepted that socket."""
        number = self._board.next_connection()
        step = self._board.injector.take_connection(upstream)
        line = self._line(sock, upstream, peer_port, number, step)
        if step is not None:
            self._strike(line, step)
            return
        self._serve(line)
        self._poison(line)

    def adopt(self, sock: socket.socket, upstream: int, peer_port: int, number: int | None) -> Line | None:
        """What a listener's fault has accepted late: under a number that it has, it is the fault's."""
        if number is None:
            self.accepted(upstream, sock, peer_port)
            return None
        return self._line(sock, upstream, peer_port, number, None)

    def strike_idle(self) -> None:
        """What was armed just now strikes the connections that lie idle."""
        for line, served in tuple(self._served.items()):
            if isinstance(served, Connection) and served.idle:
                self._strike_idle(line)

    def heal(self) -> None:
        """Silences end with FIN; what was left unread stays so until it is drained."""
        for served in tuple(self._served.values()):
            served.heal()

    def drain(self) -> None:
        """What will never be served is read, recorded and ended."""
        for served in tuple(self._served.values()):
            served.drain()

    def drop_idle(self) -> None:
        """Idle connections end with FIN."""
        for served in tuple(self._served.values()):
            served.drop_idle()

    def abort_unless_idle(self) -> None:
        """All others end at once."""
        for served in tuple(self._served.values()):
            served.abort_unless_idle()

    def record_opened(self) -> None:
        """In a ledger that begins now, they are opened first."""
        for line in self._served:
            line.record_opened()

    def close(self) -> None:
        """Free every socket."""
        for served in tuple(self._served.values()):
            served.close()

    def open(self, upstream: int | None = None) -> int:
        """Sockets that are open towards peers, at one upstream or at all; also those that wait for the peer to end."""
        return len(self._served) if upstream is None else sum(line.upstream == upstream for line in self._served)

    def ending(self) -> int:
        """Those that the router has ended, and the peer has not."""
        return sum(line.over for line in self._served)

    def _poison(self, line: Line) -> None:
        """A toxic strikes whatever is sent on that connection."""
        step = self._board.injector.poison_on(line.upstream)
        if step is not None and isinstance(step.act, Poison) and step.act.strikes_requests:
            self._board.poisons.open_strike(
                self._board.ledger, step, line.number, lambda: line.over, operation=step.operation
            )

    def _strike(self, line: Line, step: ListenerStep) -> None:
        struck: UnreadConnection | HandshakeConnection
        if isinstance(step.act, HandshakeAct):
            struck = HandshakeConnection(self._board, line, step.act, step, self._serve_late)
        else:
            struck = UnreadConnection(self._running, self._board, line, step, self._serve_late)
        if not line.over:
            self._served[line] = struck

    def _line(self, sock: socket.socket, upstream: int, peer_port: int, number: int, step: ListenerStep | None) -> Line:
        greeting = greeting_of(step) if self._identity is not None else None
        make: Callable[..., Line] = Line
        if self._identity is not None and greeting is not None:
            make = partial(TlsLine, context=self._identity.context(greeting))
        line = make(
            self._running,
            self._board,
            sock,
            number=number,
            upstream=upstream,
            peer_port=peer_port,
            released=self._released,
        )
        line.record_opened()
        return line

    def _serve(self, line: Line) -> Connection:
        connection = self._served[line] = Connection(self._running, self._board, line)
        return connection

    def _strike_idle(self, line: Line) -> None:
        step = self._board.injector.take_idle(line.upstream)
        if step is None:
            return
        if isinstance(step.act, Poison):
            self._poison(line)
        elif isinstance(step.act, EndIdle):
            end_idle(self._board, line, step, step.act)
        else:
            self._strike(line, step)

    def _serve_late(self, line: Line, read: Sequence[Event] = ()) -> None:
        """From now on; what was `read` already comes first."""
        connection = self._serve(line)
        connection.work_off(read)
        connection.read_now()

    def _released(self, line: Line) -> None:
        self._served.pop(line, None)

    @property
    def _running(self) -> asyncio.AbstractEventLoop:
        assert self._loop is not None
        return self._loop
