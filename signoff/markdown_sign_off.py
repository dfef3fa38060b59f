"""report.md of a sign-off: what a comment on a pull request holds. The worst comes first, and is cut last."""

from collections.abc import Callable, Iterable, Iterator

from signoff.cell_words import alike, counted, lived, shows_most, versions
from signoff.clipping import Section, clipped
from signoff.markdown_parts import MARKER, SHOWN_WHOLE, SIGNS, broken_cell, paragraph, table
from signoff.marked_text import code, escaped
from signoff.measured_words import amplified, rate, waits
from signoff.report import CellReport
from signoff.rules import TOLD, Change
from signoff.sign_off import (
    Allowance,
    Amplification,
    CellDifference,
    GivingUp,
    Side,
    SignOff,
    WorkSide,
)

_WHERE = "signoff.json"
_WORST_FIRST = (
    Change.REGRESSED,
    Change.UNPROVEN,
    Change.STILL_BROKEN,
    Change.WEAKER,
    Change.SAME,
    Change.FIXED,
    Change.STRONGER,
)


def markdown_of_sign_off(sign_off: SignOff) -> bytes:
    """The comment of base against candidate, in UTF-8."""
    return clipped(_sections(sign_off)).encode()


def _sections(sign_off: SignOff) -> Iterator[Section]:
    yield _headline(sign_off)
    yield from _decisions(sign_off)
    plans = f"{sign_off.candidate.report.rpartition('/')[0]}/plans".lstrip("/")
    named = sign_off.candidate.named
    for place, (says, cell) in enumerate(_blockers(sign_off.cells)):
        yield broken_cell(cell, says, subject=named, plans=plans, where=_WHERE, first=not place)
    for change in _WORST_FIRST:
        yield from _cells(sign_off, change)
    yield from _measures(sign_off)
    yield from _allowances(sign_off)
    yield paragraph("the last line", f"<sub>{escaped(sign_off.tool)}; cell by cell in report.html and {_WHERE}</sub>")


def _headline(sign_off: SignOff) -> Section:
    sides = f"{_side(sign_off.base)} → {_side(sign_off.candidate)}"
    counts = ", ".join(f"{count} {change}" for change, count in sign_off.counts.items())
    lines = [MARKER, f"## {SIGNS[sign_off.verdict]} {sign_off.verdict}: {sides}", ""]
    if sign_off.partial:
        lines += [f"**Not whole: {escaped(sign_off.partial)}.** No verdict is claimed.", ""]
    matter = sign_off.matter[1 if sign_off.partial else 0 :]  # why it is not whole stands above them
    lines += [f"- {escaped(line)}" for line in matter]
    asked = f"depth {sign_off.depth}, seed {sign_off.seed}"
    lines += ["", f"{escaped(counts)}; {escaped(asked)}; {escaped(versions(sign_off))}"]
    lines += [line for note in sign_off.notes for line in ("", f"Note: {escaped(note)}")]
    return paragraph("the verdict", *lines)


def _side(side: Side) -> str:
    return f"{escaped(side.named)}{' (of before)' if side.earlier else ''}"


def _decisions(sign_off: SignOff) -> Iterator[Section]:
    changed = [each for each in sign_off.decisions if each.changed]
    if changed:
        name = f"Decisions that changed: {len(changed)} of {len(sign_off.decisions)}"
        yield table(name, _DECISION, list(alike(changed).items()), where=_WHERE, fold=False)


_DECISION: dict[str, Callable[[tuple[tuple[str, str, str, str], list[str]]], str]] = {
    "the forwarder saw": lambda row: "; ".join(escaped(evidence) for evidence in row[1]),
    "the work was": lambda row: row[0][0],
    "class": lambda row: escaped(row[0][1]),
    "base": lambda row: escaped(row[0][2]),
    "candidate": lambda row: escaped(row[0][3]),
}


def _blockers(cells: Iterable[CellDifference]) -> list[tuple[str, CellReport]]:
    """The first of each kind that regresses and is not excused, as the candidate has it; what shows most before
    the others.
    """
    kinds: dict[str, tuple[str, CellReport]] = {}
    found = [
        (each, each.candidate)
        for each in cells
        if each.change == Change.REGRESSED.value and each.excused is None and each.candidate is not None
    ]
    for each, cell in sorted(found, key=lambda pair: shows_most(pair[1])):
        kinds.setdefault(each.about, (f"{each.about}; was {lived(each.base)}", cell))
    return list(kinds.values())[:SHOWN_WHOLE]


def _cells(sign_off: SignOff, change: Change) -> Iterator[Section]:
    found = [
        each for each in sign_off.cells if each.change == change.value and (change is not Change.SAME or each.says)
    ]
    if found:
        found.sort(key=lambda each: each.excused is not None)
        word = TOLD if change is Change.SAME else change.value
        yield table(f"{counted(len(found), 'cell')}: {word}", _CELL, found, where=_WHERE)


def _says(each: CellDifference) -> str:
    excused = "" if each.excused is None else f"excused by allowance {each.excused + 1}; "
    return f"{excused}{escaped(each.says, 160)}"


_CELL: dict[str, Callable[[CellDifference], str]] = {
    "cell": lambda each: code(each.id),
    "base": lambda each: escaped(lived(each.base)),
    "candidate": lambda each: escaped(lived(each.candidate)),
    "what changed": _says,
}
_AMPLIFICATION: dict[str, Callable[[Amplification], str]] = {
    "the router is": lambda each: escaped(each.state),
    "at once": lambda each: str(each.operations),
    "base": lambda each: amplified(each.base),
    "candidate": lambda each: amplified(each.candidate),
    "": lambda each: escaped(each.reason),
}
_WAITS: dict[str, Callable[[GivingUp], str]] = {
    "the forwarder saw": lambda each: escaped(each.evidence),
    "time-out": lambda each: each.of,
    "base": lambda each: waits(each.base),
    "candidate": lambda each: waits(each.candidate),
}
_WORK: dict[str, Callable[[tuple[str, WorkSide]], str]] = {
    "side": lambda each: each[0],
    "lost": lambda each: rate(each[1].lost),
    "doubled": lambda each: rate(each[1].doubled),
    "operations drawn": lambda each: str(each[1].operations),
    "runs": lambda each: str(each[1].runs),
}
_ALLOWANCE: dict[str, Callable[[tuple[int, Allowance]], str]] = {
    "": lambda each: str(each[0]),
    "cells": lambda each: code(each[1].cells),
    "state": lambda each: each[1].state,
    "excused": lambda each: str(each[1].excused),
    "expires": lambda each: escaped(each[1].expires),
    "owner": lambda each: escaped(each[1].owner),
    "reason": lambda each: escaped(each[1].reason),
}


def _measures(sign_off: SignOff) -> Iterator[Section]:
    work = sign_off.work
    if work is not None:
        sides = [("base", work.base), ("candidate", work.candidate)]
        yield table(f"of 1,000 operations under the mix {work.mix!r} ({work.origin})", _WORK, sides, where=_WHERE)
    if sign_off.amplification:
        yield table("amplification: of each operation", _AMPLIFICATION, sign_off.amplification, where=_WHERE)
    differing = [each for each in sign_off.giving_up if each.changed]
    if differing:
        name = "how long callers wait for a failure, in multiples of the time-out"
        yield table(name, _WAITS, differing, where=_WHERE)


def _allowances(sign_off: SignOff) -> Iterator[Section]:
    if sign_off.allowances:
        yield table("allowances", _ALLOWANCE, list(enumerate(sign_off.allowances, 1)), where=_WHERE)
