"""What the drawn steps are drawn from: faults that an operation's exchange can meet, moments that matter to a TTL, and
ids that nobody was given.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from faults.acts import Fragment, Hang, is_listener_act, needs_stream, needs_tls, needs_whole
from faults.answer import Answer
from faults.catalogue import CATALOGUE
from faults.coverage import Depth
from faults.fault import Fault
from suites.futures.lives import Lives
from suites.futures.steps import Loss

T = TypeVar("T")

MOST = 256  # of the numbers that choose
OFTEN = 4
SMALL_MS = (1, 1_000, 10_000, 45_000)  # a moment, a second, a heartbeat, the patience of a caller


def _fits(fault: Fault) -> bool:
    act = fault.act
    drawn = Depth.FULL.holds(fault.coverage.drawn)
    return drawn and not (is_listener_act(act) or needs_stream(act) or needs_tls(act) or needs_whole(act))


def _waits(fault: Fault) -> bool:
    """The forwarder has to wait for its own time-out, or for the router to take its time."""
    act = fault.act
    if isinstance(act, Fragment):
        return act.ending is None
    return isinstance(act, Hang) or (isinstance(act, Answer) and (act.lasts > 0 or act.stalls))


FAULTS = tuple(fault.id for fault in CATALOGUE.values() if _fits(fault) and not fault.lets_pass and not _waits(fault))

STRANGERS = ("0", "1", "7" * 39, "9" * 60, "x", "1.5", "0x10")


def moments(lives: Lives) -> tuple[int, ...]:
    """By how much the clock may go on: by a little; to just before, to, and to just after each end of a TTL that is
    running, the near ones more often, for what is far ends all that is near.
    """
    terms = lives.terms
    near = {poll.asked.now_ms + terms.hold_ms for poll in lives.polls.values() if poll.waits}
    far = {session.beaten_ms + terms.session_ms for session in lives.sessions.values()}
    for life in lives.operations.values():
        if life.delivered_ms is not None:
            near.add(life.delivered_ms + terms.retrieved_ms)
        elif life.landed_ms is not None:
            near.add(life.landed_ms + terms.retrieved_ms)  # it must have no end there
            far.add(life.landed_ms + terms.undelivered_ms)
    return (*SMALL_MS, *_around(near, lives.now_ms) * OFTEN, *_around(far, lives.now_ms))


def _around(ends: set[int], now_ms: int) -> tuple[int, ...]:
    found = {end + offset - now_ms for end in ends for offset in (-1, 0, 1)}
    return tuple(sorted(ms for ms in found if ms > 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """Numbers that choose what a step is about."""

    which: int
    how: int
    lost: int

    def late(self, of: Sequence[int]) -> int:
        """One of these; the last ones are the simplest."""
        return of[-1 - self.which % len(of)]

    def one_of(self, of: Sequence[T]) -> T:
        """One of these; the first ones are the simplest."""
        return of[self.how % len(of)]

    @property
    def faults(self) -> tuple[str, ...]:
        """What its first exchange meets: nothing, in about every second case."""
        place = self.how - (MOST - len(FAULTS))
        return (FAULTS[place],) if place >= 0 else ()

    @property
    def copies(self) -> int:
        """How many submit the same at once; mostly one."""
        return (self.lost // 8) % 4 if (self.lost // 8) % 8 > 5 else 1

    @property
    def seldom(self) -> bool:
        """True, in one of eight cases."""
        return self.how % 8 == 7

    @property
    def loss(self) -> Loss | None:
        """Whether a reply is lost, which is seldom."""
        return {1: Loss.AT_ONCE, 2: Loss.UNREAD}.get(self.lost % 8)
