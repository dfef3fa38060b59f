"""What a player has seen so far: the facts of one script, and the lives that follow from them."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from suites.futures.life import State
from suites.futures.lives import Lives
from suites.futures.offer import Terms
from suites.futures.record import AnyFact


@dataclass(slots=True)
class Notes:
    """Facts are noted in order, each with the step in which it was seen and the server's time by then."""

    terms: Terms
    now_ms: int
    step: int = -1
    facts: list[AnyFact] = field(default_factory=list)
    lives: Lives = field(init=False)
    cut: set[int] = field(default_factory=set)  # what carries these numbers the server gives up: a container was struck
    begun: float = field(default_factory=time.monotonic)
    _first_ms: int = field(init=False)

    def __post_init__(self) -> None:
        self.lives = Lives(self.terms)
        self._first_ms = self.now_ms

    def saw(self, kind: Callable[..., AnyFact], **facts: Any) -> None:
        """One more."""
        fact = kind(**({"step": self.step, "now_ms": self.now_ms, "at_ns": time.monotonic_ns()} | facts))
        self.facts.append(fact)
        self.lives.take(fact)

    def by_the_clock(self) -> None:
        """The server's time is that of this machine."""
        self.now_ms = self._first_ms + int((time.monotonic() - self.begun) * 1000)

    def waiting(self) -> list[int]:
        """The polls whose callers are there, and to whom nothing has come."""
        return [poll for poll, life in self.lives.polls.items() if life.waits]

    def unread(self) -> list[int]:
        """The polls whose callers are there, and have read nothing."""
        return [poll for poll, life in self.lives.polls.items() if life.left is None and life.answered is None]

    def is_owed(self, poll: int) -> bool:
        """Its reply was sent by now: what it asked for has landed, or it was held long enough."""
        asked = self.lives.polls[poll].asked
        state = None if asked.operation is None else self.lives.state_of(asked.operation)
        return state is not State.HELD or self.now_ms >= asked.now_ms + self.terms.hold_ms
