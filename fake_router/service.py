"""How long the work of an exchange takes, as data: a closed union, and the words that name each in an option."""

import math
import re
from dataclasses import dataclass
from typing import assert_never

MAX_CAPACITY = 1_000_000
MAX_SECONDS = 86_400
FORMS = "instant, held, burst or engine:CAPACITY,SECONDS"

_ENGINE = re.compile(r"engine:([0-9]{1,7}),([0-9]{1,5}(?:\.[0-9]{1,6})?)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Instant:
    """No time: it is answered as soon as it has been read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Until it is released. together: all that wait are answered in one go; else one in each turn of the loop."""

    together: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """Each the same time, and no more than `capacity` at once; the others queue, in the order in which they came."""

    capacity: int
    seconds: float

    def __post_init__(self) -> None:
        if not 1 <= self.capacity <= MAX_CAPACITY:
            raise ValueError(f"a capacity of {self.capacity!r}; expected 1 to {MAX_CAPACITY}")
        if not (math.isfinite(self.seconds) and 0 <= self.seconds <= MAX_SECONDS):
            raise ValueError(f"a service time of {self.seconds!r} s; expected 0 to {MAX_SECONDS}")


Service = Instant | Held | Engine
INSTANT = Instant()


def service_in(text: str) -> Service:
    """The service that this text names. Raises ValueError."""
    match text:
        case "instant":
            return INSTANT
        case "held":
            return Held()
        case "burst":
            return Held(together=True)
    engine = _ENGINE.fullmatch(text)
    if engine is None:
        raise ValueError(f"service {text!r}; expected {FORMS}")
    return Engine(capacity=int(engine[1]), seconds=float(engine[2]))


def service_text(service: Service) -> str:
    """The words that name it."""
    match service:
        case Instant():
            return "instant"
        case Held(together=together):
            return "burst" if together else "held"
        case Engine(capacity=capacity, seconds=seconds):
            return f"engine:{capacity},{seconds:g}"
        case _:
            assert_never(service)
