"""Which lane of a shared subject works on what: an instance goes one way, and each start of one has its price."""

import math
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from faults.plan import Plan
from suites.way import Way, way_of

WORTH_STARTING = 10  # runs: for fewer, one more instance takes longer to start than it saves; of one that starts slowly
FEW = 8  # lanes; beyond them also one that starts slowly is started only where it is of use for long enough
LEAST_WORTH = 2  # of one that starts at once
_STARTS = 4  # so often as long as it takes to start, an instance should be of use: others start and run meanwhile


@dataclass(slots=True)
class Shares:
    """The plans that nobody has taken yet, by their way, and how many lanes are on each way."""

    _worth: int = WORTH_STARTING
    _worth_of_many: int = WORTH_STARTING
    _left: dict[Way, deque[int]] = field(default_factory=dict)
    _lanes: Counter[Way] = field(default_factory=Counter)

    @staticmethod
    def of(plans: Sequence[Plan]) -> "Shares":
        """All of them."""
        shares = Shares()
        for place, plan in enumerate(plans):
            shares._left.setdefault(way_of(plan), deque()).append(place)
        return shares

    def started(self, start_s: float, run_s: float) -> None:
        """So long an instance took to start, and so long a run takes at least."""
        self._worth_of_many = max(LEAST_WORTH, math.ceil(_STARTS * start_s / run_s))
        self._worth = min(WORTH_STARTING, self._worth_of_many)

    def enter(self) -> Way | None:
        """The way for a lane that has none: one that nobody is on, the shortest first, for its runs come one after the
        other; else that on which most are left for each lane. None: nowhere are enough left for one lane more.
        """
        left = [way for way, places in self._left.items() if places]
        alone = [way for way in left if not self._lanes[way]]
        if alone:
            way = min(alone, key=lambda way: len(self._left[way]))
        elif not left or (self._for_each(way := max(left, key=self._for_each))) < self._worth_of_one_more():
            return None
        self._lanes[way] += 1
        return way

    def leave(self, way: Way) -> None:
        """A lane is on that way no more."""
        self._lanes[way] -= 1

    def left(self, way: Way) -> tuple[int, ...]:
        """The places of the plans of that way that nobody has taken."""
        return tuple(self._left[way])

    def take(self, way: Way) -> int | None:
        """The place of the next plan of that way; None: all of them have been taken."""
        places = self._left[way]
        return places.popleft() if places else None

    def _worth_of_one_more(self) -> int:
        return self._worth if self._lanes.total() < FEW else self._worth_of_many

    def _for_each(self, way: Way) -> float:
        return len(self._left[way]) / (self._lanes[way] + 1)
