"""From two reports to one sign-off: pure, whatever ran them and whenever."""

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version

from signoff.allowances import Allowed, excused, needs_excuse
from signoff.comparison import Change, Comparison, compare
from signoff.decisions import SENDS_AGAIN, decisions_of
from signoff.giving_up import giving_up_of
from signoff.report import Loaded, Report
from signoff.sign_off import (
    Allowance,
    Amplification,
    Amplified,
    CellDifference,
    Decision,
    Side,
    SignOff,
    SignOffVerdict,
    Work,
)
from signoff.work import work_of

_MATTER = 3  # lines that a reviewer reads first
_EXITS: dict[SignOffVerdict, int] = {"MAY SHIP": 0, "BLOCK": 1, "UNPROVEN": 3}
COULD_NOT_RUN = 4


def sign_off_of(
    base: Report,
    candidate: Report,
    *,
    paths: tuple[str, str],
    strict: bool,
    allowed: Sequence[Allowed] = (),
    today: dt.date,
    named: tuple[str, str] = ("", ""),
    earlier: bool = False,
    notes: tuple[str, ...] = (),
    partial: str = "",
    code: int = COULD_NOT_RUN,
) -> SignOff:
    """What changes from base to candidate, and whether it may ship.

    paths: where both reports lie, relative to the sign-off's own file. named: what both were called on the command
    line. earlier: base is a report of before; notes: what is to be known of it. partial: why this sign-off is not
    whole; a report that is partial makes it so too; code: the exit code that goes with that.
    """
    comparison = compare(base, candidate)
    work = work_of(base.work, candidate.work)
    differences, states = excused(_differences(comparison), allowed, today, strict=strict)
    partial = partial or _partial(base, candidate)
    verdict = verdict_of(differences, strict=strict, partial=partial, judged=_anything_judged(differences))
    decisions = decisions_of(base, candidate)
    counts = Counter(difference.change for difference in differences)
    return SignOff(
        tool=f"retryproof {version('retryproof')}",
        verdict=verdict,
        exit=code if partial else _EXITS[verdict],
        matter=matter_of(differences, decisions, work, states, partial),
        seed=candidate.seed,
        depth=candidate.depth,
        strict=strict,
        base=_side(base, paths[0], named[0], earlier=earlier),
        candidate=_side(candidate, paths[1], named[1]),
        counts={change.value: counts[change.value] for change in Change},
        cells=differences,
        decisions=decisions,
        amplification=_amplification(base, candidate),
        giving_up=giving_up_of(base, candidate),
        work=work,
        allowances=states,
        partial=partial,
        notes=notes,
    )


def verdict_of(differences: Sequence[CellDifference], *, strict: bool, partial: str, judged: bool) -> SignOffVerdict:
    """BLOCK where anything that is not excused blocks; UNPROVEN where anything is unproven and not excused, where
    nothing was judged, and where it is not whole: what was not looked at may block.
    """
    unexcused = [each for each in differences if each.excused is None and needs_excuse(each, strict=strict)]
    if partial:
        return "UNPROVEN"
    if any(each.change != "unproven" for each in unexcused):
        return "BLOCK"
    return "UNPROVEN" if unexcused or not judged else "MAY SHIP"


def matter_of(
    differences: Sequence[CellDifference],
    decisions: Sequence[Decision],
    work: Work | None,
    allowances: Sequence[Allowance],
    partial: str = "",
) -> tuple[str, ...]:
    """The three lines that matter, the worst first: what regresses, in the words of a decision where one changed; what
    it costs; what else a reader must know. Of what is not whole: why, and what regresses in that part of it.
    """
    regressed = [each for each in differences if each.change == "regressed" and each.excused is None]
    lines = [f"not whole: {partial}"] if partial else []
    if regressed:
        ids = {each.id for each in regressed}
        verb = "regresses" if len(regressed) == 1 else "regress"
        lines.append(f"{_cells(len(regressed))} {verb}: {_worst(decisions, ids) or regressed[0].says}")
    if partial:
        return tuple(lines)
    if work is not None:
        lines.append(_work_line(work))
    for change in ("fixed", "weaker", "still broken", "unproven", "stronger"):
        of_it = [each for each in differences if each.change == change]
        if of_it:
            ids = {each.id for each in of_it}
            lines.append(f"{_cells(len(of_it))} {change}: {_worst(decisions, ids) or of_it[0].says}")
    stale = [each for each in allowances if each.state != "used"]
    if stale:
        lines.append(f"{len(stale)} allowances have expired or excuse nothing: {stale[0].cells!r} is {stale[0].state}")
    return tuple(lines[:_MATTER]) or ("no cell differs",)


def _worst(decisions: Sequence[Decision], ids: set[str]) -> str:
    """The changed decision that is about these cells and weighs most: work done twice, then a sending more."""
    about = [each for each in decisions if each.changed and ids & {*each.base.cells, *each.candidate.cells}]
    about.sort(key=lambda each: (-(each.candidate.executions or (0, 0))[1], each.candidate.does != SENDS_AGAIN))
    return about[0].says if about else ""


def _cells(count: int) -> str:
    return f"{count} cell{'' if count == 1 else 's'}"


def _work_line(work: Work) -> str:
    base, candidate = work.base, work.candidate
    return (
        f"of 1,000 operations under the mix {work.mix!r}: work doubled {base.doubled.rate:g} -> "
        f"{candidate.doubled.rate:g}, lost {base.lost.rate:g} -> {candidate.lost.rate:g}"
    )


def _differences(comparison: Comparison) -> list[CellDifference]:
    return [
        CellDifference(id=each.id, change=each.change.value, says=each.says, base=each.base, candidate=each.candidate)
        for each in comparison.cells
    ]


def _anything_judged(differences: Sequence[CellDifference]) -> bool:
    return any(each.base is not None and each.base.verdict in ("PASS", "FAIL") for each in differences)


def _partial(base: Report, candidate: Report) -> str:
    found = [
        f"{name}: {report.partial}" for name, report in (("base", base), ("candidate", candidate)) if report.partial
    ]
    return "; ".join(found)


def _amplification(base: Report, candidate: Report) -> tuple[Amplification, ...]:
    of_base, of_candidate = ({(load.state, load.at_once): load for load in side.loads} for side in (base, candidate))
    return tuple(
        Amplification(
            state=state,
            operations=at_once,
            base=_amplified(of_base.get((state, at_once))),
            candidate=_amplified(of_candidate.get((state, at_once))),
            reason="; ".join(
                f"{name}: {side[state, at_once].reason}"
                for name, side in (("base", of_base), ("candidate", of_candidate))
                if (state, at_once) in side and side[state, at_once].reason
            ),
        )
        for state, at_once in dict.fromkeys([*of_base, *of_candidate])
    )


def _amplified(load: Loaded | None) -> Amplified | None:
    if load is None or not load.operations:
        return None
    each = load.operations
    return Amplified(
        attempts=round(load.attempts / each, 2),
        executions=round(load.executions / each, 2),
        failed=round(load.failed / each, 2),
    )


def _side(report: Report, path: str, named: str, *, earlier: bool = False) -> Side:
    return Side(
        subject=report.subject,
        report=path,
        verdict=report.verdict,
        counts=report.counts,
        histogram=report.histogram,
        tool=report.tool,
        partial=report.partial,
        earlier=earlier,
        named=named or report.subject.name,
    )
