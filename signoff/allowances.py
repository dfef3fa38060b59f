"""Allowances: a file that excuses known cells of a sign-off, each with a reason, an owner and a last day."""

import datetime as dt
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

import msgspec

from signoff.items import may_be_chosen
from signoff.sign_off import Allowance, CellDifference

_KEYS = {
    "cells": "a glob over cell ids, such as 'status/503*'",
    "reason": "a text: why it may be so",
    "owner": "a text: whom to ask",
    "expires": "a day, such as 2027-01-31: the last on which it excuses",
}


class AllowanceError(ValueError):
    """A file of allowances that cannot be used; the message quotes the value and says what was expected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """One entry of the file."""

    cells: str
    reason: str
    owner: str
    expires: dt.date

    def has_expired(self, today: dt.date) -> bool:
        """Its last day is over."""
        return today > self.expires


def load_allowances(path: Path) -> tuple[Allowed, ...]:
    """The entries of that file, in its order. Raises AllowanceError; OSError where it cannot be read."""
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise AllowanceError(f"allowances {str(path)!r}: {error}; expected TOML with tables [[allow]]") from None
    entries = data.pop("allow", [])
    if data or not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        odd = next(iter(data), "allow")
        raise AllowanceError(f"allowances {str(path)!r}: {odd!r}; expected tables [[allow]] and nothing beside them")
    return tuple(
        _allowed(entry, f"allowances {str(path)!r}, [[allow]] number {n}") for n, entry in enumerate(entries, 1)
    )


def _allowed(entry: dict[str, Any], where: str) -> Allowed:
    for key in entry:
        if key not in _KEYS:
            raise AllowanceError(f"{where}: {key!r} is no key; expected {', '.join(_KEYS)}")
    for key, expected in _KEYS.items():
        value = entry.get(key)
        if key == "expires":
            right = isinstance(value, dt.date) and not isinstance(value, dt.datetime)
        else:
            right = isinstance(value, str) and value.strip() != "" and value.isprintable()
        if not right:
            raise AllowanceError(f"{where}: {key} is {value!r}; expected {expected}")
    return Allowed(**entry)


def excused(
    differences: Sequence[CellDifference], allowed: Sequence[Allowed], today: dt.date, *, strict: bool
) -> tuple[tuple[CellDifference, ...], tuple[Allowance, ...]]:
    """The differences, each that blocks or is unproven beside the first allowance for it that has not expired; and what
    became of every allowance: one that has expired, or that excuses nothing, is to be taken out of the file.
    """
    counts = [0] * len(allowed)
    found = []
    for difference in differences:
        place = next(
            (
                place
                for place, entry in enumerate(allowed)
                if fnmatchcase(difference.id, entry.cells) and not entry.has_expired(today)
            ),
            None,
        )
        if place is not None and needs_excuse(difference, strict=strict):
            counts[place] += 1
            difference = msgspec.structs.replace(difference, excused=place)
        found.append(difference)
    ids = [difference.id for difference in differences]
    states = tuple(_state(entry, count, today, ids) for entry, count in zip(allowed, counts, strict=True))
    return tuple(found), states


def needs_excuse(difference: CellDifference, *, strict: bool) -> bool:
    """It blocks, or proves nothing."""
    wrong = ("regressed", "unproven", "still broken") if strict else ("regressed", "unproven")
    return difference.change in wrong


def _state(entry: Allowed, count: int, today: dt.date, ids: Sequence[str]) -> Allowance:
    """ids: of all cells that were examined."""
    state: Literal["used", "unused", "expired", "not examined"] = "used" if count else "unused"
    if entry.has_expired(today):
        state = "expired"
    elif not any(fnmatchcase(id_, entry.cells) for id_ in ids) and may_be_chosen(entry.cells):
        state = "not examined"
    return Allowance(
        cells=entry.cells,
        reason=entry.reason,
        owner=entry.owner,
        expires=entry.expires.isoformat(),
        state=state,
        excused=count,
    )
