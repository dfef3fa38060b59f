"""A mix of faults: how many of 1,000 operations meet one, and which. Data: TOML in a file, the same keys as JSON."""

import tomllib
from bisect import bisect
from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate
from pathlib import Path
from typing import Any

from faults.catalogue import is_fault, uncatalogued

_KEYS = ("name", "origin", "per_1000", "faults")
_PLACES = 2**64  # of which a drawing takes one for each operation


class MixError(ValueError):
    """A file that is no mix; the message quotes the value and says what was expected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """Weights of faults; what they come from is in `origin`."""

    name: str
    origin: str
    per_1000: float
    faults: dict[str, float]


@dataclass(frozen=True, slots=True)
class Drawing:
    """Which operation meets which fault of a mix: decided by the seed and the operation's number alone."""

    ids: tuple[str, ...]
    bounds: tuple[float, ...]  # a place below bounds[i], and not below the one before, is that of ids[i]
    seed: int

    @staticmethod
    def of(mix: Mix, seed: int) -> "Drawing":
        """The drawing with that seed. The order in which the mix names its faults is no matter."""
        ids = tuple(sorted(mix.faults))
        share = mix.per_1000 / 1_000 * _PLACES / sum(mix.faults.values())
        return Drawing(ids, tuple(accumulate(mix.faults[id_] * share for id_ in ids)), seed)

    def fault_of(self, operation: int) -> str | None:
        """The fault that it meets; None where it meets none."""
        digest = blake2b(b"%d %d" % (self.seed, operation), digest_size=8).digest()
        place = bisect(self.bounds, int.from_bytes(digest))
        return self.ids[place] if place < len(self.ids) else None


def load_mix(path: Path) -> Mix:
    """The mix in that file. Raises MixError; OSError where it cannot be read."""
    try:
        return mix_in(path.read_text("utf-8"), f"mix {str(path)!r}")
    except UnicodeDecodeError as error:
        raise MixError(f"mix {str(path)!r}: {error}; expected TOML") from None


def mix_in(text: str, where: str) -> Mix:
    """The mix that this text describes. Raises MixError."""
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise MixError(f"{where}: {error}; expected TOML with {', '.join(_KEYS)}") from None
    return mix_from(data, where)


def mix_from(data: dict[str, Any], where: str) -> Mix:
    """The mix with these keys. Raises MixError."""
    for key in data:
        if key not in _KEYS:
            raise MixError(f"{where}: {key!r} is no key; expected {', '.join(_KEYS)}")
    for key in ("name", "origin"):
        if not isinstance(data.get(key), str) or not data[key].strip() or not data[key].isprintable():
            raise MixError(f"{where}: {key} is {data.get(key)!r}; expected a printable text on one line")
    if not _is_number(data.get("per_1000")) or not 0 < data["per_1000"] <= 1_000:
        raise MixError(f"{where}: per_1000 is {data.get('per_1000')!r}; expected a number above 0, to 1000")
    faults = data.get("faults")
    if not isinstance(faults, dict) or not faults:
        raise MixError(f"{where}: faults is {faults!r}; expected a table of fault id = weight")
    for id_, weight in faults.items():
        if not is_fault(id_):
            raise MixError(f"{where}: {uncatalogued(id_) or f'{id_!r} is no fault'}; `retryproof faults` lists them")
        if not _is_number(weight) or weight <= 0:
            raise MixError(f"{where}: the weight of {id_!r} is {weight!r}; expected a number above 0")
    return Mix(**{**data, "per_1000": float(data["per_1000"])})


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value < float("inf")
