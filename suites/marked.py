"""What the marker `fake_router` says, checked value by value before anything is started."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any

from fake_router.injector import MAX_READ_TIMEOUT_MS
from faults.plan import MAX_UPSTREAMS, Plan

A_PLAN = "`faults.plan_json.load_plan(Path(...).read_bytes())` reads one"


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """What the marker says. Raises ValueError for what cannot be, and for both faults and a plan."""

    faults: Sequence[str] = ()
    plan: Plan | None = None
    upstreams: int = 1
    tls: bool = False
    read_timeout_ms: int = 300
    may_not_strike: bool = False

    @staticmethod
    def of(said: Sequence[Mapping[str, Any]]) -> "Marked":
        """What the markers of one test, or of one class, say: one at most. Raises ValueError."""
        if len(said) > 1:
            raise ValueError(f"two markers fake_router on one test, {' and '.join(map(_call, said))}; expected one")
        words: Mapping[str, Any] = said[0] if said else {}
        known = [field.name for field in fields(Marked)]
        for name in words:
            if name not in known:
                near = get_close_matches(name, known, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise ValueError(f"fake_router has no {name!r}; expected some of {', '.join(known)}{hint}")
        return Marked(**words)

    def __post_init__(self) -> None:
        if not isinstance(self.faults, list | tuple) or not all(isinstance(id_, str) for id_ in self.faults):
            raise ValueError(f"faults is {self.faults!r}; expected a list of fault ids")
        if not isinstance(self.plan, Plan | None):
            raise ValueError(f"plan is {self.plan!r}; expected a Plan ({A_PLAN})")
        if self.faults and self.plan is not None:
            raise ValueError(f"faults {self.faults!r} beside a plan; expected one of them")
        for name, most in (("upstreams", MAX_UPSTREAMS), ("read_timeout_ms", MAX_READ_TIMEOUT_MS)):
            number = getattr(self, name)
            if type(number) is not int or not 1 <= number <= most:
                raise ValueError(f"{name} is {number!r}; expected a whole number from 1 to {most}")
        for name in ("tls", "may_not_strike"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} is {getattr(self, name)!r}; expected True or False")


def _call(words: Mapping[str, Any]) -> str:
    return f"fake_router({', '.join(f'{name}={value!r}' for name, value in words.items())})"
