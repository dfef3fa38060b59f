"""Every fault of a container, at each moment of the exchange where it strikes something: of the router's, then of the
forwarder's own, and of the workers'.
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
# By the moment; None: before the request, where silence is what is seen of it.
_Rows = dict[Moment | None, str]
_ROWS: _Rows = {Moment.CONNECT: "Y1", Moment.RECEIVED: "Y2", Moment.EXECUTED: "Y3", None: "Y4"}
_OF_WORKER: _Rows = {Moment.CONNECT: "Y7", Moment.RECEIVED: "Y8", Moment.EXECUTED: "Y9", None: "Y10"}
_BEHIND = {Whose.ROUTER: (_ROWS, "the router", ""), Whose.WORKER: (_OF_WORKER, "each worker", "worker-")}
_OF_FORWARDER = ("Y5", "Y6")
_COVERAGE = Coverage(core=frozenset({Dimension.EVERY_UPSTREAM}), drawn=Depth.DEEP)
_UNSENT = "no byte of the request was sent"


def disturbance_faults() -> Iterator[Fault]:
    """In the order of what is done, each from the first moment to the last."""
    yield from _of_those_behind(Whose.ROUTER)
    yield from _of_forwarder()
    yield from _of_those_behind(Whose.WORKER)


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


def _of_those_behind(whose: Whose) -> Iterator[Fault]:
    """What the forwarder, or whoever it has before it, finds in place of who is behind it."""
    rows, named, prefix = _BEHIND[whose]
    for how, (name, says) in _NAMES.items():
        if whose is Whose.WORKER and not how.may_strike_worker:
            continue
        for at, (when, moment) in _AT.items():
            if at is Moment.CONNECT and not how.lasts:
                continue  # whoever connects afterwards meets nothing, or nothing that is certain
            act = Disturb(how=how, at=at, whose=whose)
            safe = sight_of_disturbance(act) is Sight.REFUSED
            twin = Moment.RECEIVED if at is Moment.EXECUTED else Moment.EXECUTED
            yield Fault(
                id=f"{prefix}{name}-{when}",
                says=f"the container of {named} is {says}, {moment}",
                act=act,
                row=rows[at] if safe or at is not Moment.CONNECT else rows[None],
                authority=_UNSENT if safe else RFC_RETRY,
                twin=None if safe else f"{prefix}{name}-{_AT[twin][0]}",
                no_twin="SAFE evidence: it proves that nothing was applied" if safe else "",
                coverage=_COVERAGE,
            )
