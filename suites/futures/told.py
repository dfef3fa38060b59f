"""Scripts that are told, not drawn: each goes one way in which servers of futures lose results, run work twice or wait
for ever. They are short, and every server is led through them before anything is drawn.
"""

from collections.abc import Mapping

from faults.acts import End
from faults.catalogue import CATALOGUE
from faults.vocabulary import Ending, Side
from suites.futures.offer import Offer, Store
from suites.futures.script import Script, script_of
from suites.futures.steps import (
    Advance,
    AnyStep,
    Ask,
    Beat,
    Cross,
    First,
    Land,
    Leave,
    Loss,
    Open,
    Other,
    Poll,
    Read,
    Restart,
    Resubmit,
    Submit,
)
from suites.tinker.open_call import Departure

_RESET = End(side=Side.AFTER, ending=Ending.RESET)
_LOST = next(fault.id for fault in CATALOGUE.values() if fault.act == _RESET)  # the work is done, and no answer comes
SCARCE_BYTES = 14_000  # two sessions, and a few operations
MORE_THAN_FIT = 8
_SCARCE = "there is no room"
_BEGIN = (Open(), Submit(session=0))


def told(offer: Offer) -> Mapping[str, Script]:
    """The scripts by name, with the times of that offer."""
    steps = {**_abandoned(offer), **_delivered(offer), **_submits(offer), **_restarts()}
    scripts = {name: script_of(each, store=_STORES.get(name, Store.MEMORY), name=name) for name, each in steps.items()}
    return scripts | {_SCARCE: script_of(_scarce(offer), max_bytes=SCARCE_BYTES, name=_SCARCE)}


def _abandoned(offer: Offer) -> dict[str, tuple[AnyStep, ...]]:
    """Nobody can have got it: it is there a retrieved TTL later, and until the last moment of the long one."""
    later = (Advance(ms=offer.retrieved_ms + 1), Poll(operation=0), Read(poll=1))
    left = {
        f"left by {how}": (
            *_BEGIN,
            Poll(operation=0),
            Leave(poll=0, how=how),
            Land(operation=0),
            *later,
        )
        for how in (Departure.FIN, Departure.RESET, Departure.HALF_CLOSE)
    }
    return left | {
        "left by vanishing": (
            *_BEGIN,
            Poll(operation=0),
            Leave(poll=0, how=Departure.VANISH),
            Land(operation=0),
            Advance(ms=offer.retrieved_ms - 1),
            Poll(operation=0),
            Read(poll=1),
        ),
        "nobody asks before the last moment": (
            *_BEGIN,
            Land(operation=0),
            Advance(ms=offer.undelivered_ms - 1),
            Poll(operation=0),
            Read(poll=0),
        ),
        "one of two leaves": (
            *_BEGIN,
            Poll(operation=0),
            Poll(operation=0),
            Leave(poll=0, how=Departure.RESET),
            Land(operation=0),
            Read(poll=1),
        ),
        "leaves while it lands": (
            *_BEGIN,
            Poll(operation=0),
            Cross(poll=0, how=Departure.FIN, first=First.LANDS),
            Advance(ms=offer.retrieved_ms - 1),
            Poll(operation=0),
            Read(poll=1),
        ),
    }


def _delivered(offer: Offer) -> dict[str, tuple[AnyStep, ...]]:
    """Somebody may have got it: the retrieved TTL, from the last time; and what is gone says so."""
    got = (*_BEGIN, Poll(operation=0), Land(operation=0), Read(poll=0))
    return {
        "left with the reply unread": (
            *_BEGIN,
            Poll(operation=0),
            Land(operation=0),
            Leave(poll=0, how=Departure.RESET),
            Advance(ms=offer.retrieved_ms - 1),
            Poll(operation=0),
            Read(poll=1),
        ),
        "two pollers, and a third later": (
            *_BEGIN,
            Poll(operation=0),
            Poll(operation=0),
            Land(operation=0),
            Read(poll=0),
            Read(poll=1),
            Advance(ms=1),
            Poll(operation=0),
            Read(poll=2),
        ),
        "held to the end": (*_BEGIN, Poll(operation=0), Advance(ms=offer.hold_ms), Read(poll=0)),
        "evicted, and submitted again": (
            *got,
            Beat(session=0),
            Advance(ms=offer.retrieved_ms + 1),
            Poll(operation=0),
            Read(poll=1),
            Resubmit(operation=0),
            Poll(operation=0),
            Read(poll=2),
        ),
        "a failure is an outcome too": (
            Open(),
            Submit(session=0, faults=(_LOST,)),
            Poll(operation=0),
            Land(operation=0),
            Read(poll=0),
            Poll(operation=0),
            Read(poll=1),
        ),
    }


def _submits(offer: Offer) -> dict[str, tuple[AnyStep, ...]]:
    """One key, one operation; and ids that nobody was given."""
    return {
        "the reply to a submit is lost": (
            Open(),
            Submit(session=0, lost=Loss.UNREAD),
            Resubmit(operation=0),
            Land(operation=0),
            Poll(operation=0),
            Read(poll=0),
        ),
        "three submit it at once, and one has lost its reply": (
            Open(),
            Submit(session=0, lost=Loss.AT_ONCE, copies=3),
            Land(operation=0),
            Poll(operation=0, json=True),
            Read(poll=0),
            Poll(operation=0, json=True),
            Read(poll=1),
        ),
        "the same, and other content": (
            *_BEGIN,
            Resubmit(operation=0),
            Resubmit(operation=0, other=Other.PROMPT),
            Resubmit(operation=0, other=Other.SEED),
            Submit(session=0),
            Land(operation=1),
        ),
        "ids that nobody was given": (Open(), Ask(request_id="1"), Ask(request_id="x")),
        "a session ends": (*_BEGIN, Land(operation=0), Advance(ms=offer.session_ms), Resubmit(operation=0)),
    }


def _restarts() -> dict[str, tuple[AnyStep, ...]]:
    """What a process takes with it, and what its store keeps."""
    again = (Open(), Submit(session=1), Poll(operation=0), Read(poll=1))
    return {
        "terminated with a poll waiting": (*_BEGIN, Poll(operation=0), Restart(), *again),
        "terminated on its store": (*_BEGIN, Poll(operation=0), Restart(), Poll(operation=0), Read(poll=1)),
        "killed on its store": (
            *_BEGIN,
            Submit(session=0),
            Land(operation=1),
            Poll(operation=1),
            Read(poll=0),
            Poll(operation=0),
            Restart(killed=True),
            Resubmit(operation=0),
            Poll(operation=0),
            Read(poll=2),
            Poll(operation=1),
            Read(poll=3),
        ),
    }


def _scarce(offer: Offer) -> tuple[AnyStep, ...]:
    """What does not fit is refused, and taken when there is room again; nobody's result makes room for another's."""
    submits = [Submit(session=0) for _ in range(MORE_THAN_FIT)]
    return (
        Open(),
        *submits,
        Land(operation=0),
        Land(operation=1),
        Poll(operation=0),
        Read(poll=0),
        *[Resubmit(operation=operation) for operation in range(2, MORE_THAN_FIT)],
        Beat(session=0),
        Advance(ms=offer.retrieved_ms + 1),
        Resubmit(operation=MORE_THAN_FIT - 1),
        Poll(operation=1),
        Read(poll=1),
    )


_STORES = {"terminated on its store": Store.SQLITE, "killed on its store": Store.SQLITE}
