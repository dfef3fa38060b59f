"""What a load is: how many operations are in flight at once, asked for by whom, before a router that serves how."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from fake_router.service import INSTANT, Held, Service
from faults.under import Overlay
from suites.load.stairs import stairs_up_to

MAX_IN_FLIGHT = 1_000_000
MAX_OPERATIONS = 100_000_000
MAX_S = 86_400


class Callers(StrEnum):
    """What those who call are like."""

    PLAIN = "plain"  # one request, and its answer on the same connection
    SDK = "sdk"  # a submit, then polls that are abandoned and repeated until the result has come


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """One load, lived through once. Each caller asks for its next operation when the one before has ended.

    operations: in all (with `for_s`: as many as come in that time). for_s: how long callers begin further operations,
    None: until all are done. patience_s: how long a poll is waited for before it is abandoned and repeated (sdk).
    give_up_s: how long an operation may take before its caller has lost it. mix: faults at a rate, as a mix file
    says it; None: no faults. seed: which operation meets which fault. under: toxics over all connections to routers.
    stairs: in so many of them in flight goes up, each lasting as long as the others (ramp.py).
    """

    in_flight: int
    operations: int
    service: Service = INSTANT
    callers: Callers = Callers.PLAIN
    for_s: float | None = None
    patience_s: float = 45.0
    give_up_s: float = 600.0
    mix: Mapping[str, object] | None = None
    seed: int = 0
    under: tuple[Overlay, ...] = ()
    stairs: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.in_flight <= MAX_IN_FLIGHT:
            raise ValueError(f"{self.in_flight!r} in flight; expected 1 to {MAX_IN_FLIGHT}")
        if not self.in_flight <= self.operations <= MAX_OPERATIONS:
            raise ValueError(
                f"{self.operations!r} operations, {self.in_flight} in flight; expected no fewer, to {MAX_OPERATIONS}"
            )
        if self.stairs != 1 and self.for_s is None:
            raise ValueError(f"a ramp of {self.stairs!r} stairs without a time; expected one: --for 2m")
        if self.stairs != 1 and isinstance(self.service, Held):
            raise ValueError("a ramp before routers that hold all of it; expected --mode instant or engine:C,S")
        stairs_up_to(self.in_flight, self.stairs)
        for name, value in (("for_s", self.for_s), ("patience_s", self.patience_s), ("give_up_s", self.give_up_s)):
            if value is not None and not 0 < value <= MAX_S:
                raise ValueError(f"{name} is {value!r}; expected seconds above 0, to {MAX_S}")
