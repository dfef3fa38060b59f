"""How many are in flight on each stair of a ramp."""

import math

MOST_STAIRS = 10


def stairs_up_to(in_flight: int, count: int) -> tuple[int, ...]:
    """So many stairs: the last is all of it, and each before it half of the next. Raises ValueError for too many."""
    if not 1 <= count <= MOST_STAIRS or 2 ** (count - 1) > in_flight:
        raise ValueError(
            f"a ramp of {count!r} stairs up to {in_flight} in flight; expected 1 to {MOST_STAIRS}, so many that "
            "each is half of the next"
        )
    return tuple(math.ceil(in_flight / 2 ** (count - 1 - nth)) for nth in range(count))
