"""What report.html holds: a report, or a sign-off, as compact data. Every text and every diagram is in it once, and
cells name them by number, so that 5,000 cells stay below 5 MB.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from signoff.cell_words import because, counted, did, replay_command, shows_most
from signoff.decisions import decisions_of
from signoff.measured_words import amplified, rate, waits
from signoff.report import CellReport, Report, Step
from signoff.sign_off import Decision, Side, SignOff

_SAME = "same"
_WORST_FIRST = ("regressed", "FAIL", "unproven", "UNKNOWN", "still broken", "weaker", "fixed", "stronger", "same")


@dataclass(slots=True)
class Tables:
    """Texts and diagrams, each once, by number in order of their first use."""

    texts: dict[str, int] = field(default_factory=dict)
    diagrams: dict[tuple[Any, ...], int] = field(default_factory=dict)

    def text(self, text: str) -> int:
        """Its number."""
        return self.texts.setdefault(text, len(self.texts))

    def diagram(self, steps: Sequence[Step]) -> int | None:
        """Its number; None for one without a step."""
        if not steps:
            return None
        packed = tuple(self._packed(step) for step in steps)
        return self.diagrams.setdefault(packed, len(self.diagrams))

    def _packed(self, step: Step) -> tuple[Any, ...]:
        whom = self.text(step.whom) if step.whom else 0
        return step.ms, self.text(step.who), whom, self.text(step.says), self.text(step.mark), step.entries


def data_of_report(report: Report, named: str) -> dict[str, Any]:
    """Of one examination; `named`: what the subject was called on the command line."""
    tables = _tables()
    cells: list[list[Any]] = []
    for cell in report.cells:
        side = _side(cell, tables, "plans", named, diagram=True)
        says = tables.text(cell.verdict), tables.text(because(cell))
        cells.append([*_of_cell(cell, tables), *says, None, side])
    decisions = [_row(each) for each in decisions_of(report, report)]
    worst = [(_rank(cell.verdict, because(cell)), cell) for cell in report.cells]
    return {
        **_frame(tables, cells, decisions),
        "worst": _order(worst),
        "sides": [{"name": report.subject.name}],
        "work": [],
        "mix": "",
        "amplification": [],
        "waits": [],
        "allowances": [],
    }


def data_of_sign_off(sign_off: SignOff) -> dict[str, Any]:
    """Of base and candidate. A base that went as the candidate did is said to, and not drawn again."""
    tables = _tables()
    cells: list[list[Any]] = []
    worst: list[tuple[tuple[Any, ...], CellReport]] = []
    for each in sign_off.cells:
        known = each.candidate or each.base
        assert known is not None  # a difference is made of at least one cell
        same = each.change == _SAME and each.candidate is not None
        base = _side(each.base, tables, _plans(sign_off.base), _named(sign_off, 0), diagram=not same)
        candidate = _side(each.candidate, tables, _plans(sign_off.candidate), _named(sign_off, 1), diagram=True)
        row = [*_of_cell(known, tables), tables.text(each.change), tables.text(each.says), each.excused]
        cells.append([*row, base, candidate])
        worst.append((_rank(each.change, each.says, excused=each.excused is not None), known))
    return {
        **_frame(tables, cells, [_row(each) for each in sign_off.decisions]),
        "worst": _order(worst),
        "sides": [{"name": name} for name in _names(sign_off)],
        "work": _work(sign_off),
        "mix": "" if sign_off.work is None else f"mix {sign_off.work.mix!r}: {sign_off.work.origin}",
        "amplification": [
            [each.state, str(each.operations), amplified(each.base), amplified(each.candidate), each.reason]
            for each in sign_off.amplification
        ],
        "waits": [[each.evidence, each.of, waits(each.base), waits(each.candidate)] for each in sign_off.giving_up],
        "allowances": [
            [each.cells, each.reason, each.owner, each.expires, each.state, str(each.excused)]
            for each in sign_off.allowances
        ],
    }


def _tables() -> Tables:
    tables = Tables()
    tables.text("")  # number 0, which a script takes for nothing
    return tables


def _frame(tables: Tables, cells: list[Any], decisions: list[Any]) -> dict[str, Any]:
    return {
        "strings": list(tables.texts),
        "diagrams": list(tables.diagrams),
        "cells": cells,
        "decisions": decisions,
    }


def _rank(word: str, says: str, *, excused: bool = False) -> tuple[int, bool, bool]:
    """How early a reader must see it: by its change, or verdict; later what is excused, or has nothing to say."""
    place = _WORST_FIRST.index(word) if word in _WORST_FIRST else len(_WORST_FIRST)
    return place, excused, not says


def _order(ranked: Sequence[tuple[tuple[Any, ...], CellReport]]) -> list[int]:
    """The places of cells, the worst first, and of these first what shows most."""
    return sorted(range(len(ranked)), key=lambda place: (ranked[place][0], shows_most(ranked[place][1])))


def _of_cell(cell: CellReport, tables: Tables) -> list[int]:
    return [tables.text(text) for text in (cell.id, cell.fault, cell.phase, cell.evidence, cell.class_)]


def _side(cell: CellReport | None, tables: Tables, plans: str, named: str, *, diagram: bool) -> list[Any] | None:
    if cell is None:
        return None
    flags = [word for word, holds in (("tells", cell.tells), ("varies", cell.varies)) if holds]
    flags += [counted(cell.warnings, "warning")] if cell.warnings else []
    replay = replay_command(cell, plans, named) if named else ""
    return [
        tables.text(cell.verdict),
        cell.attempts,
        cell.accepted,
        cell.executions,
        tables.text(cell.outcome),
        cell.status,
        cell.delay_ms,
        tables.text(", ".join(flags)),
        tables.text(cell.reason),
        [
            [
                tables.text(each.check),
                tables.text(each.kind),
                tables.text(each.verdict),
                tables.text(each.says),
                each.entries,
            ]
            for each in cell.findings
        ],
        tables.diagram(cell.diagram) if diagram else None,
        tables.text(replay),
    ]


def _plans(side: Side) -> str:
    """Where its plans are, from the folder of the page."""
    return f"{side.report.rpartition('/')[0]}/plans".lstrip("/")


def _names(sign_off: SignOff) -> tuple[str, str]:
    """What both are called; where that is the same, what they were on the command line, or which of them it is."""
    sides = sign_off.base, sign_off.candidate
    for base, candidate in ([side.subject.name for side in sides], [side.named for side in sides]):
        if base != candidate:
            return base, candidate
    return f"{base} (base)", f"{candidate} (candidate)"


def _named(sign_off: SignOff, place: int) -> str:
    side = (sign_off.base, sign_off.candidate)[place]
    return side.named if not side.earlier else ""


def _row(decision: Decision) -> dict[str, Any]:
    return {
        "evidence": decision.evidence,
        "class": decision.class_,
        "truth": "done" if decision.truth == "executed" else "not done",
        "base": did(decision.base),
        "candidate": did(decision.candidate),
        "changed": decision.changed,
        "says": decision.says,
    }


def _work(sign_off: SignOff) -> list[list[str]]:
    if sign_off.work is None:
        return []
    base, candidate = sign_off.work.base, sign_off.work.candidate
    return [
        ["doubled", rate(base.doubled), rate(candidate.doubled)],
        ["lost", rate(base.lost), rate(candidate.lost)],
        ["operations drawn", str(base.operations), str(candidate.operations)],
        ["runs", str(base.runs), str(candidate.runs)],
    ]
