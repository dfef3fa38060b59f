"""Scripts in which something is done to the container between a server of futures and its routers: one for each thing
that can be done, and one for each that can be over before anybody has given up. Every stack that has one is led through
them.
"""

from collections.abc import Mapping

from faults.disturbance import Disturbing
from suites.futures.offer import Store
from suites.futures.script import Script, script_of
from suites.futures.steps import AnyStep, Calm, Disturb, Land, Open, Poll, Read, Restart, Resubmit, Submit

# What is slow, or shaped, shows a server of futures nothing that these do not.
STRIKES = (
    Disturbing.PAUSE,
    Disturbing.KILL,
    Disturbing.STOP,
    Disturbing.RECREATE,
    Disturbing.MEMORY,
    Disturbing.DISCONNECT,
    Disturbing.MOVE,
    Disturbing.LOSE,
)
_BRIEFLY = (Disturbing.PAUSE, Disturbing.DISCONNECT, Disturbing.MOVE, Disturbing.LOSE)  # connections outlive these


def _lasting(how: Disturbing) -> tuple[AnyStep, ...]:
    """Of three in flight one has landed before, one lands meanwhile, one is left; a fourth comes meanwhile, and a fifth
    when all is well again. What had landed is retrievable all the time.
    """
    return (
        Open(),
        Submit(session=0),
        Submit(session=0),
        Submit(session=0),
        Poll(operation=0),
        Poll(operation=1),
        Land(operation=2),
        Disturb(how=how, landing=0),
        Submit(session=0),
        Poll(operation=2),
        Read(poll=2),
        Resubmit(operation=1),
        Calm(),
        Submit(session=0),
        Land(operation=4),
        Poll(operation=4),
        Read(poll=3),
    )


def _brief(how: Disturbing) -> tuple[AnyStep, ...]:
    """Of two in flight one lands meanwhile, and one afterwards."""
    return (
        Open(),
        Submit(session=0),
        Submit(session=0),
        Poll(operation=0),
        Disturb(how=how, landing=0, briefly=True),
        Land(operation=1),
        Submit(session=0),
        Land(operation=2),
    )


_BOTH = (
    Open(),
    Submit(session=0),
    Submit(session=0),
    Land(operation=1),
    Poll(operation=0),
    Disturb(how=Disturbing.KILL),
    Restart(killed=True),
    Poll(operation=1),
    Read(poll=1),
    Resubmit(operation=0),
    Poll(operation=0),
    Read(poll=2),
    Calm(),
    Open(),
    Submit(session=1),
    Land(operation=2),
)

STRUCK: Mapping[str, Script] = {
    **{f"router: {how}": script_of(_lasting(how), name=f"router: {how}") for how in STRIKES},
    **{f"router: {how}, briefly": script_of(_brief(how), name=f"router: {how}, briefly") for how in _BRIEFLY},
    "router and server killed": script_of(_BOTH, store=Store.SQLITE, name="router and server killed"),
}
