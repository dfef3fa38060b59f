"""Every fault of a container, at each moment of the exchange where it strikes something: of the router's, and then of
the forwarder's own.
"""

from collections.abc import Iterator

from faults.coverage import Coverage, Depth, Dimension
from faults.disturbance import Disturb, Disturbing, Whose, sight_of_disturbance
from faults.fault import RFC_RETRY, Fault
from faults.poison import Moment
from faults.vocabulary import Sight

_NAMES = {
    Disturbing.PAUSE: ("paused", "frozen"),
    Disturbing.KILL: ("killed", "killed"),
    Disturbing.STOP: ("stopped", "stopped by SIGTERM, and soon killed"),
    Disturbing.RESTART: ("restarted", "killed and started again"),
    Disturbing.RECREATE: ("re-created", "killed, removed and made anew"),
    Disturbing.MEMORY: ("out-of-memory", "killed by the kernel for want of memory"),
    Disturbing.DISCONNECT: ("disconnected", "taken off its network"),
    Disturbing.MOVE: ("moved", "taken to another address"),
    Disturbing.LOSE: ("lossy", "cut off: every packet to it is dropped"),
    Disturbing.RATE: ("rate-limited", "limited to sending one byte a second"),
    Disturbing.DELAY: ("delayed", "heard a minute late"),
    Disturbing.THROTTLE: ("throttled", "left with a hundredth of a CPU or less, which another program takes"),
}
_AT = {
    Moment.CONNECT: ("before", "before the request comes"),
    Moment.RECEIVED: ("received", "when a worker has received the request, before EXECUTE"),
    Moment.EXECUTED: ("executed", "after EXECUTE, before the reply"),
}
_ROWS = {Moment.CONNECT: "Y1", Moment.RECEIVED: "Y2", Moment.EXECUTED: "Y3"}
_OF_FORWARDER = ("Y5", "Y6")
_COVERAGE = Coverage(core=frozenset({Dimension.EVERY_UPSTREAM}), drawn=Depth.DEEP)
_UNSENT = "no byte of the request was sent"


def disturbance_faults() -> Iterator[Fault]:
    """In the order of what is done, each from the first moment to the last."""
    yield from _of_router()
    yield from _of_forwarder()


def _of_forwarder() -> Iterator[Fault]:
    """What is in its hands is lost with it, or older than it is patient: sent again is none of it."""
    rows = dict(zip((Moment.RECEIVED, Moment.EXECUTED), _OF_FORWARDER, strict=True))
    for how, (name, says) in _NAMES.items():
        for at, row in rows.items() if how.may_strike_forwarder else ():
            act = Disturb(how=how, at=at, whose=Whose.FORWARDER)
            other = Moment.RECEIVED if at is Moment.EXECUTED else Moment.EXECUTED
            until = ", until its read timeout is over" if act.thaws else ""
            yield Fault(
                id=f"forwarder-{name}-{_AT[at][0]}",
                says=f"the container of the forwarder is {says}{until}, {_AT[at][1]}",
                act=act,
                row=row,
                authority=RFC_RETRY,
                twin=f"forwarder-{name}-{_AT[other][0]}",
                coverage=_COVERAGE,
            )


def _of_router() -> Iterator[Fault]:
    for how, (name, says) in _NAMES.items():
        for at, (when, moment) in _AT.items():
            if at is Moment.CONNECT and not how.lasts:
                continue  # whoever connects afterwards meets nothing, or nothing that is certain
            act = Disturb(how=how, at=at)
            safe = sight_of_disturbance(act) is Sight.REFUSED
            twin = Moment.RECEIVED if at is Moment.EXECUTED else Moment.EXECUTED
            yield Fault(
                id=f"{name}-{when}",
                says=f"the container of the router is {says}, {moment}",
                act=act,
                row=_ROWS[at] if safe or at is not Moment.CONNECT else "Y4",
                authority=_UNSENT if safe else RFC_RETRY,
                twin=None if safe else f"{name}-{_AT[twin][0]}",
                no_twin="SAFE evidence: it proves that nothing was applied" if safe else "",
                coverage=_COVERAGE,
            )
