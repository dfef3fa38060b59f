"""What a benchmark comes to: a ratio of two things that were measured in turn, its spread, and what it is held against.

Each is one line of a benchmark's output, which a person can read and the runner reads back.
"""

import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

_LINE = re.compile(
    r"ratio: (?P<says>.+) = (?P<median>[0-9.]+) \((?P<low>[0-9.]+) to (?P<high>[0-9.]+), (?P<repeats>[0-9]+) repeats?\)"
    r"(?:, expected at (?P<bound>least|most) (?P<limit>[0-9.]+))?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """says: of what to what. bound: whether `limit` is the least or the most that is expected; empty: nothing is."""

    says: str
    median: float
    low: float
    high: float
    repeats: int
    bound: str = ""
    limit: float = 0.0

    @property
    def met(self) -> bool:
        """It is as expected."""
        return {"least": self.median >= self.limit, "most": self.median <= self.limit}.get(self.bound, True)

    @property
    def line(self) -> str:
        """One line of output."""
        expected = f", expected at {self.bound} {self.limit:g}" if self.bound else ""
        repeats = f"{self.repeats} repeat{'s' * (self.repeats != 1)}"
        return f"ratio: {self.says} = {self.median:.3g} ({self.low:.3g} to {self.high:.3g}, {repeats}){expected}"


def ratio_of(says: str, values: Sequence[float], *, least: float | None = None, most: float | None = None) -> Ratio:
    """Of the values of all repeats. Raises ValueError for none."""
    if not values:
        raise ValueError(f"{says}: no repeat; expected at least one")
    bound, limit = ("least", least) if least is not None else ("most", most) if most is not None else ("", 0.0)
    return Ratio(
        says=says,
        median=statistics.median(values),
        low=min(values),
        high=max(values),
        repeats=len(values),
        bound=bound,
        limit=limit or 0.0,
    )


def ratios_in(output: str) -> list[Ratio]:
    """All that these lines hold."""
    return [
        Ratio(
            says=found["says"],
            median=float(found["median"]),
            low=float(found["low"]),
            high=float(found["high"]),
            repeats=int(found["repeats"]),
            bound=found["bound"] or "",
            limit=float(found["limit"] or 0),
        )
        for line in output.splitlines()
        if (found := _LINE.fullmatch(line))
    ]
