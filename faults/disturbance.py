"""A fault of a container: that of the forwarder, the one between it and the workers, or those of the workers
themselves. Done by a Docker engine, at one moment of the exchange. What the router of ours plays behind it is healthy.
"""

from dataclasses import dataclass
from enum import StrEnum

from faults.answer import Answer, Hold
from faults.poison import Moment
from faults.vocabulary import Side, Sight


class Whose(StrEnum):
    """The container to which it is done."""

    ROUTER = "router"  # the one between the forwarder and the workers
    FORWARDER = "forwarder"  # its own
    WORKER = "worker"  # those in which the workers are, all of them at once: nothing of them stands but a relay to us


class Disturbing(StrEnum):
    """What is done to the container. It stays so until it is healed, but for a restart."""

    PAUSE = "pause"  # its processes are frozen: the kernel goes on accepting for them
    KILL = "kill"  # SIGKILL
    STOP = "stop"  # SIGTERM, and SIGKILL soon after it: what it holds is cut off
    RESTART = "restart"  # SIGKILL, and started again at once
    RECREATE = "recreate"  # SIGKILL, removed, and made anew: of what was in its own files nothing is left
    MEMORY = "memory"  # its memory is limited to what it has, and it asks for more: the kernel kills it
    DISCONNECT = "disconnect"  # it is taken off its network
    MOVE = "move"  # it is taken off its network, and comes back at another address
    LOSE = "lose"  # every packet that comes to it is dropped in its network namespace
    RATE = "rate"  # what it sends is limited to almost nothing there
    DELAY = "delay"  # what it sends leaves too late there
    THROTTLE = "throttle"  # it is left with almost no CPU, and a program in it takes that

    @property
    def needs_network(self) -> bool:
        """It strikes the container's own network, which one on the host's does not have."""
        return self in _OF_A_NETWORK

    @property
    def needs_limits(self) -> bool:
        """The limits of the container are changed while it runs."""
        return self in _BY_LIMITS

    @property
    def lasts(self) -> bool:
        """Until it is healed nobody is served."""
        return self not in _SOMEBODY_IS_SERVED

    @property
    def may_strike_forwarder(self) -> bool:
        """Its callers are on its network too, and would wait for who is slow for ever."""
        return not self.needs_network and self is not Disturbing.THROTTLE

    @property
    def may_strike_worker(self) -> bool:
        """There is nothing in its container but what passes bytes on, and it may do nothing to its own network."""
        return self in _OF_A_WORKER

    @property
    def queueing(self) -> str | None:
        """The queueing discipline of the kernel that does it (tc(8)); None where none is needed."""
        return _QUEUEING.get(self)


_QUEUEING = {Disturbing.RATE: "tbf", Disturbing.DELAY: "netem"}
_OF_A_NETWORK = frozenset({Disturbing.DISCONNECT, Disturbing.MOVE, Disturbing.LOSE, *_QUEUEING})
_BY_LIMITS = frozenset({Disturbing.MEMORY, Disturbing.THROTTLE})
_MADE_ANEW = frozenset({Disturbing.RESTART, Disturbing.RECREATE})
_SOMEBODY_IS_SERVED = frozenset({*_MADE_ANEW, Disturbing.MOVE, Disturbing.THROTTLE})
_NOT_BEFORE = frozenset({*_MADE_ANEW, Disturbing.THROTTLE})  # whoever is called then may be served
_AT_ONCE = frozenset({Disturbing.KILL, *_MADE_ANEW})  # whoever it is done to is ended by it
_SILENT = frozenset({Disturbing.PAUSE, Disturbing.THROTTLE, *_OF_A_NETWORK})
_OF_A_WORKER = frozenset(
    {
        Disturbing.PAUSE,
        Disturbing.KILL,
        Disturbing.STOP,
        Disturbing.RESTART,
        Disturbing.DISCONNECT,
        Disturbing.MOVE,
    }
)
_MOMENTS = {
    Whose.ROUTER: (Moment.CONNECT, Moment.RECEIVED, Moment.EXECUTED),
    Whose.FORWARDER: (Moment.RECEIVED, Moment.EXECUTED),  # before that it has nothing in hand
    Whose.WORKER: (Moment.CONNECT, Moment.RECEIVED, Moment.EXECUTED),
}
FROZEN = 1.5  # read timeouts for which a forwarder is frozen: it finds that its time is over


@dataclass(frozen=True, slots=True, kw_only=True)
class Disturb:
    """That is done at that moment. Raises ValueError for a moment at which it would strike nothing, for a network that
    is the forwarder's (its callers are there too), and for what is done to no worker.
    """

    how: Disturbing
    at: Moment
    whose: Whose = Whose.ROUTER

    def __post_init__(self) -> None:
        moments = _MOMENTS[self.whose]
        if self.at not in moments or (self.at is Moment.CONNECT and self.how in _NOT_BEFORE):
            raise ValueError(f"{self.how!r} {self.at!r}: it would strike nothing; expected one of {moments!r}")
        if self.whose is Whose.FORWARDER and not self.how.may_strike_forwarder:
            raise ValueError(f"{self.how!r} of a forwarder; expected what ends its processes, or freezes them")
        if self.whose is Whose.WORKER and not self.how.may_strike_worker:
            raise ValueError(f"{self.how!r} of a worker; expected one of {', '.join(sorted(_OF_A_WORKER))}")

    @property
    def holds(self) -> bool:
        """An exchange is held at that moment until it is done."""
        return self.at is not Moment.CONNECT

    @property
    def needs_network(self) -> bool:
        """It strikes the container's own network, which one on the host's does not have."""
        return self.how.needs_network

    @property
    def lasts(self) -> bool:
        """Until it is healed nobody is served."""
        return self.how.lasts

    @property
    def thaws(self) -> bool:
        """It is over before its operation has an outcome: a caller of whoever is frozen would wait for ever."""
        return self.whose is Whose.FORWARDER and self.how is Disturbing.PAUSE

    @property
    def ends_forwarder(self) -> bool:
        """Its callers get no answer."""
        return self.whose is Whose.FORWARDER and self.how is not Disturbing.PAUSE

    @property
    def shows_the_same(self) -> bool:
        """The forwarder sees the same on every machine, and so do its callers. When one thaws its time is over, and an
        answer may be there; what takes a while may end a container before the forwarder's time is over, or after; who
        is slow may be in time.
        """
        if self.whose is Whose.FORWARDER:
            return self.how in _AT_ONCE
        return not self.holds or self.how in _AT_ONCE or (self.how in _SILENT and self.how is not Disturbing.THROTTLE)

    @property
    def has_to_be_in_time(self) -> bool:
        """What the forwarder and its callers see of it they see only if its time is not over before."""
        return self.holds and self.how in _AT_ONCE

    @property
    def loses_answer(self) -> bool:
        """What was on its way to the forwarder never comes."""
        return not self.thaws and self.how is not Disturbing.THROTTLE

    @property
    def answer(self) -> Answer:
        """What a worker does, as far as its bytes get through: it answers in good health."""
        return Answer(side=Side.AFTER, pace=Hold(at=None) if self.at is Moment.EXECUTED else None)


def sight_of_disturbance(act: Disturb) -> Sight:
    """What the forwarder sees. The kernel of a paused container completes connections; one that is cut off leaves those
    that it had open, and whoever uses one hears nothing; what held a connection and ended leaves an end. A forwarder
    that is itself struck hears nothing, and what it is when it comes back has heard nothing.
    """
    if act.whose is Whose.FORWARDER:
        return Sight.SILENCE
    if act.how in _SILENT:
        return Sight.SILENCE
    return Sight.REFUSED if act.at is Moment.CONNECT else Sight.FIN
