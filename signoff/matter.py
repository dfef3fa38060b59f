"""The lines of a sign-off that matter: what a reviewer reads first, and perhaps alone."""

from collections import Counter
from collections.abc import Iterable, Sequence

from signoff.decisions import SENDS_AGAIN, changed
from signoff.sign_off import Allowance, CellDifference, Decision, Work

LINES = 3
_ALIKE = 4  # kinds of evidence that are named in one sentence


def matter_of(
    differences: Sequence[CellDifference],
    decisions: Sequence[Decision],
    work: Work | None,
    allowances: Sequence[Allowance],
    partial: str = "",
    unpromised: str = "",
) -> tuple[str, ...]:
    """The lines that matter, the worst first: what regresses, in the words of a decision where one changed; what it
    costs, where that changed; what is unproven; then what else changed. unpromised: why less was judged of the
    candidate. Of what is not whole: why, and what regresses in that part of it.
    """
    regressed = _about(differences, "regressed", decisions)
    if partial:
        return (f"not whole: {partial}", *regressed)
    lines = [*regressed, *filter(None, [unpromised]), *_of_work(work)]
    for change in ("unproven", "still broken", "weaker", "fixed", "stronger"):
        lines += _about(differences, change, decisions)
    lines += _excused(differences)
    stale = [each for each in allowances if each.state in _STALE]
    if stale:
        worded = "; ".join(f"{each.cells!r} {_STALE[each.state]}" for each in stale[:LINES])
        lines.insert(min(len(lines), LINES - 1), f"{_count(len(stale), 'allowance')} to take out of the file: {worded}")
    return tuple(lines[:LINES]) or ("no cell differs",)


_STALE = {"expired": "has expired", "unused": "excuses nothing"}
_VERBS = {
    "regressed": ("regresses", "regress"),
    "unproven": ("is unproven", "are unproven"),
    "still broken": ("is still broken", "are still broken"),
    "weaker": ("is weaker", "are weaker"),
    "fixed": ("is fixed", "are fixed"),
    "stronger": ("is stronger", "are stronger"),
}


def _about(differences: Iterable[CellDifference], change: str, decisions: Sequence[Decision]) -> list[str]:
    found = [each for each in differences if each.change == change and each.excused is None]
    if not found:
        return []
    verb = _VERBS[change][len(found) > 1]
    worst = _worst(decisions, [each for each in found if _decides_otherwise(each)])
    if not worst:
        return [f"{_count(len(found), 'cell')} {verb}, such as {found[0].id}: {found[0].says}"]
    return [f"{_count(len(found), 'cell')} {verb} ({_in_common(change, found)}): {worst}"]


def _in_common(change: str, found: Sequence[CellDifference]) -> str:
    """All the checks that it is about; of what is about none, what is most common."""
    abouts = Counter(each.about for each in found)
    if change in ("regressed", "still broken", "fixed"):
        return ", ".join(sorted({check for about in abouts for check in about.split(", ")}))
    return abouts.most_common(1)[0][0]


def _excused(differences: Iterable[CellDifference]) -> list[str]:
    found = [each for each in differences if each.excused is not None]
    verb = "is" if len(found) == 1 else "are"
    return [f"{_count(len(found), 'cell')} {verb} excused, such as {found[0].id}: {found[0].says}"] if found else []


def _worst(decisions: Sequence[Decision], cells: Sequence[CellDifference]) -> str:
    """The changed decision that is about these cells and weighs most: work done twice, then a sending more. All kinds
    of evidence on which the same changed are named together.
    """
    ids = {each.id for each in cells}
    about = [each for each in decisions if each.changed and ids & {*each.base.cells, *each.candidate.cells}]
    if not about:
        return ""
    worst = min(about, key=_weight)
    same = worst.says.removeprefix(worst.evidence)
    saw = list(dict.fromkeys(each.evidence for each in about if each.says == f"{each.evidence}{same}"))
    more = [f"{len(saw) - _ALIKE + 1} more kinds of evidence"] if len(saw) > _ALIKE else []
    return f"{_in_a_row([*saw[: _ALIKE - len(more)], *more])}{same}"


def _decides_otherwise(each: CellDifference) -> bool:
    """A row of the decision table holds many cells: what changed in one of them is not said of another."""
    return each.base is not None and each.candidate is not None and changed((each.base, each.candidate)) is not None


def _weight(decision: Decision) -> tuple[int, bool]:
    return -(decision.candidate.executions or (0, 0))[1], decision.candidate.does != SENDS_AGAIN


def _in_a_row(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _of_work(work: Work | None) -> list[str]:
    if work is None:
        return []
    base, candidate = work.base, work.candidate
    if (base.doubled, base.lost) == (candidate.doubled, candidate.lost):
        return []
    return [
        f"of 1,000 operations under the mix {work.mix!r}: work doubled {base.doubled.rate:g} -> "
        f"{candidate.doubled.rate:g}, lost {base.lost.rate:g} -> {candidate.lost.rate:g}"
    ]


def _count(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
