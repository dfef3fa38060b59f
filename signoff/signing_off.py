"""From two reports to one sign-off: pure, whatever ran them and whenever."""

import datetime as dt
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from msgspec.structs import replace

from signoff.allowances import Allowed, excused, needs_excuse
from signoff.comparison import CellChange, compare, is_judged
from signoff.decisions import decisions_of
from signoff.giving_up import giving_up_of
from signoff.matter import matter_of
from signoff.report import Loaded, Report
from signoff.rules import Change
from signoff.sign_off import (
    MINOR,
    Amplification,
    Amplified,
    CellDifference,
    Side,
    SignOff,
    SignOffVerdict,
    Work,
)
from signoff.stated import promises_less, stated_otherwise
from signoff.work import work_of

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
    varying: Collection[str] = (),
    partial: str = "",
    code: int = COULD_NOT_RUN,
) -> SignOff:
    """What changes from base to candidate, and whether it may ship.

    paths: where both reports lie, relative to the sign-off's own file. named: what both were called on the command
    line. earlier: base is a report of before; notes: what is to be known of it. varying: the
    cells that told the same on both sides once these took turns. partial: why this sign-off is not
    whole; a report that is partial makes it so too; code: the exit code that goes with that.
    """
    base, candidate = (_marked(side, varying) for side in (base, candidate))
    work = work_of(base.work, candidate.work)
    differences, states = excused(_differences(compare(base, candidate)), allowed, today, strict=strict)
    partial = partial or _partial(base, candidate)
    unpromised = promises_less(base.subject, candidate.subject)
    verdict = verdict_of(_grounds(differences, strict=strict, partial=partial, unpromised=unpromised))
    decisions = decisions_of(base, candidate)
    counts = Counter(difference.change for difference in differences)
    return SignOff(
        minor=MINOR,
        tool=f"retryproof {version('retryproof')}",
        verdict=verdict,
        exit=code if partial else _EXITS[verdict],
        matter=matter_of(differences, decisions, work, states, partial, unpromised),
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
        notes=(*notes, *stated_otherwise(base.subject, candidate.subject), *_other_work(base, candidate, work)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """What a verdict rests on. blocking, unproven: cells that are not excused. compared: cells judged on both sides.
    unpromised: what the candidate promises less than the base.
    """

    partial: str
    unpromised: str
    blocking: int
    unproven: int
    compared: int


def not_whole(grounds: Grounds) -> SignOffVerdict | None:
    """What was not looked at may block, and what blocks in a part may be excused by nobody: no verdict is claimed."""
    return "UNPROVEN" if grounds.partial else None


def blocks(grounds: Grounds) -> SignOffVerdict | None:
    """One cell is enough, whatever else is unproven."""
    return "BLOCK" if grounds.blocking else None


def leaves_open(grounds: Grounds) -> SignOffVerdict | None:
    """What is unproven may block."""
    return "UNPROVEN" if grounds.unproven else None


def promised_before(grounds: Grounds) -> SignOffVerdict | None:
    """A must that the candidate no longer promises was not judged: it may be broken."""
    return "UNPROVEN" if grounds.unpromised else None


def compares_nothing(grounds: Grounds) -> SignOffVerdict | None:
    """Where nothing was judged on both sides, nothing is shown, whatever is excused."""
    return None if grounds.compared else "UNPROVEN"


# In their order: the first that says something decides; where none does, it may ship.
VERDICTS: tuple[Callable[[Grounds], SignOffVerdict | None], ...] = (
    not_whole,
    blocks,
    leaves_open,
    promised_before,
    compares_nothing,
)


def verdict_of(grounds: Grounds) -> SignOffVerdict:
    """BLOCK, UNPROVEN or MAY SHIP."""
    found = (rule(grounds) for rule in VERDICTS)
    return next((verdict for verdict in found if verdict is not None), "MAY SHIP")


def _marked(report: Report, varying: Collection[str]) -> Report:
    """With those cells marked as such that vary."""
    cells = tuple(replace(cell, varies=True) if cell.id in varying else cell for cell in report.cells)
    return replace(report, cells=cells) if varying else report


def _grounds(differences: Sequence[CellDifference], *, strict: bool, partial: str, unpromised: str) -> Grounds:
    unexcused = [each for each in differences if each.excused is None and needs_excuse(each, strict=strict)]
    unproven = sum(each.change == "unproven" for each in unexcused)
    return Grounds(
        partial=partial,
        unpromised=unpromised,
        blocking=len(unexcused) - unproven,
        unproven=unproven,
        compared=sum(
            each.change != "unproven" and is_judged(each.base) and is_judged(each.candidate) for each in differences
        ),
    )


def _differences(changes: Sequence[CellChange]) -> list[CellDifference]:
    return [
        CellDifference(
            id=each.id,
            change=each.change.value,
            about=each.about,
            says=each.says,
            base=each.base,
            candidate=each.candidate,
        )
        for each in changes
    ]


def _partial(base: Report, candidate: Report) -> str:
    found = [
        f"{name}: {report.partial}" for name, report in (("base", base), ("candidate", candidate)) if report.partial
    ]
    return "; ".join(found)


def _other_work(base: Report, candidate: Report, work: Work | None) -> list[str]:
    measured = base.work is not None and candidate.work is not None
    return ["work lost and doubled was not measured on the same plans: not compared"] if measured and not work else []


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
