"""Connections that lie idle are ended: the strike is the ending itself."""

import contextlib

from fake_router.entries import Striking, Struck, Witness
from fake_router.injector import ListenerStep
from fake_router.line import Line
from fake_router.replies import small_json
from fake_router.switchboard import Switchboard
from faults.acts import EndIdle


def end_idle(board: Switchboard, line: Line, step: ListenerStep, act: EndIdle) -> None:
    """End that line, which no request is under way on; before that, with a reply that nobody asked for where the act
    says so.
    """
    striking = board.ledger.record(
        Striking, fault=step.fault, upstream=line.upstream, connection=line.number, operation=step.operation
    )
    if act.status is not None:
        said = small_json(act.status, {"error": {"message": "idle for too long"}}, close=True)
        with contextlib.suppress(OSError):
            line.send(said)
    line.end(act.ending)
    board.ledger.record(Struck, striking=striking, witness=Witness.ACT)
