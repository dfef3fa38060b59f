"""A connection whose TLS handshake is struck: spoiled when its ClientHello has come, or made in a way that the peer has
to refuse.
"""

from collections.abc import Callable
from typing import assert_never

from fake_router.client_hello import HelloReader
from fake_router.entries import Striking, Struck, Witness
from fake_router.identity import WELL, Greeting
from fake_router.injector import ListenerStep
from fake_router.line import Line
from fake_router.switchboard import Switchboard
from fake_router.tls_line import TlsLine
from faults.handshake import DemandCertificate, HandshakeAct, ShowCertificate, Spoil, SpoilHandshake

_HANDSHAKE = 22  # the type of a record that belongs to one (RFC 8446 s5.1)
_HEAD_BYTES = 5
_LOOK_BYTES = 65_536
_ANSWERS = {
    Spoil.ALERT: bytes((21, 3, 3, 0, 2, 2, 40)),  # fatal, handshake_failure (RFC 8446 s6.2)
    Spoil.NO_PROTOCOL: bytes((21, 3, 3, 0, 2, 2, 120)),  # fatal, no_application_protocol (RFC 7301 s3.2)
    Spoil.PLAINTEXT: b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
}


def greeting_of(step: ListenerStep | None) -> Greeting | None:
    """How the router takes part in the handshake of that connection; None: it does not."""
    match None if step is None else step.act:
        case SpoilHandshake():
            return None
        case ShowCertificate(flaw=flaw):
            return Greeting(flaw=flaw)
        case DemandCertificate(version=version):
            return Greeting(demands=version)
        case _:
            return WELL


class HandshakeConnection:
    """Waits for a ClientHello, opens the strike, and does the act. A peer that brings none is struck by nothing.

    `serve` is called with a connection on which a request came in spite of the act.
    """

    __slots__ = ("_act", "_board", "_line", "_lying", "_serve", "_step", "_striking")

    def __init__(
        self, board: Switchboard, line: Line, act: HandshakeAct, step: ListenerStep, serve: Callable[[Line], None]
    ) -> None:
        self._board = board
        self._line = line
        self._act = act
        self._step = step
        self._serve = serve
        self._lying = 0
        self._striking = 0  # the seq of its open Striking
        line.on_readable(self._greeting)

    def drop_idle(self) -> None:
        """It is not idle: a fault holds it."""

    def heal(self) -> None:
        """What stalls ends with FIN."""
        if self._act == SpoilHandshake(how=Spoil.STALL):
            self.drain()

    def drain(self) -> None:
        """End it."""
        if not self._line.over:
            self._line.fin()

    def abort_unless_idle(self) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Free what it holds, without a word to the ledger."""
        self._line.release()

    def _greeting(self) -> None:
        """The ClientHello is looked at as it lies in the socket, whatever the line makes of it."""
        data = Line.peek(self._line, _LOOK_BYTES)
        if data is None:
            return
        if not data or len(data) == self._lying or self._line.is_reset():  # woken without more: the peer has ended
            self._line.gone()
            return
        if data[0] != _HANDSHAKE:
            self._line.fin()
            return
        hello_bytes = _HEAD_BYTES + int.from_bytes(data[3:_HEAD_BYTES], "big")
        if len(data) < hello_bytes:
            self._lying = len(data)
            Line.wake_at(self._line, self._lying + 1)
            return
        Line.wake_at(self._line, 1)
        if not isinstance(self._line, TlsLine) and (hello := HelloReader().feed(data)) is not None:
            self._line.record_greeted(hello)  # a line that speaks TLS does so itself
        self._strike(hello_bytes)

    def _strike(self, hello_bytes: int) -> None:
        self._striking = self._board.ledger.record(
            Striking,
            fault=self._step.fault,
            upstream=self._line.upstream,
            connection=self._line.number,
            operation=self._step.operation,
        )
        match self._act:
            case SpoilHandshake(how=how):
                self._line.read(hello_bytes)
                self._spoil(how)
            case ShowCertificate() | DemandCertificate():
                self._line.on_readable(self._shaking)
                self._shaking()
            case _:
                assert_never(self._act)

    def _struck(self) -> None:
        self._board.ledger.record(Struck, striking=self._striking, witness=Witness.ACT)

    def _spoil(self, how: Spoil) -> None:
        match how:
            case Spoil.RESET:
                self._line.reset()
            case Spoil.FIN:
                self._line.fin()
            case Spoil.STALL:
                self._line.on_readable(self._stalling)
                self._stalling()
                if self._line.over:
                    return  # it has left before it was struck
            case Spoil.ALERT | Spoil.NO_PROTOCOL | Spoil.PLAINTEXT:
                try:
                    self._line.send(_ANSWERS[how])
                except OSError:
                    self._line.gone()  # so has this one
                    return
                self._line.fin()
            case _:
                assert_never(how)
        self._struck()

    def _stalling(self) -> None:
        """What comes is no plaintext, and of no account."""
        for data in self._line.pieces():
            if not data:
                self._line.gone()

    def _shaking(self) -> None:
        """What strikes is the end of the connection without a request: a refusal of ours, or the peer's."""
        data = self._line.peek(1)
        if data is None:
            return
        if data:
            self._serve(self._line)
            return
        refused = isinstance(self._line, TlsLine) and self._line.refused
        if refused:
            self._line.fin()  # an alert of ours is on its way, and a close with bytes unread would overtake it
        else:
            self._line.gone()
        if refused or isinstance(self._act, ShowCertificate):
            self._struck()
