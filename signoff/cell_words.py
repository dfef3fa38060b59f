"""One cell in a few words, the same ones in every face."""

import shlex
from collections import Counter
from collections.abc import Iterable

from signoff.report import CellReport, FindingReport
from signoff.sign_off import Decision, Did, SignOff

FUTURES = "futures"  # a phase whose rows are properties: only one that fails, or is not shown, has a script


def outcome_of(cell: CellReport) -> str:
    """What the callers had in the end: the outcome and its status, or how many had which."""
    outcomes = Counter(cell.outcome.split(", "))
    if outcomes.total() > 1:
        return ", ".join(f"{count} {outcome}" for outcome, count in outcomes.items())
    return cell.outcome if cell.status is None else f"{cell.outcome} {cell.status}"


def lived(cell: CellReport | None) -> str:
    """What became of it: the verdict, and what was sent, run and had in the end."""
    if cell is None:
        return "-"
    if cell.verdict == "not_run":
        return "not run"
    attempts = "?" if cell.attempts is None else cell.attempts
    return (
        f"{cell.verdict}{' (known)' if cell.known else ''}: {attempts} sent, {cell.executions} run, {outcome_of(cell)}"
    )


def because(cell: CellReport) -> str:
    """Why it did not pass, or what it warns of: its reason, else the first finding."""
    return cell.reason or next((each.says for each in broken(cell)), "")


def broken(cell: CellReport) -> tuple[FindingReport, ...]:
    """The findings that are no PASS, musts first."""
    return tuple(sorted((each for each in cell.findings if each.verdict != "PASS"), key=lambda each: each.kind))


def shows_most(cell: CellReport) -> tuple[bool, bool, int]:
    """A key to sort by: work that was done twice before all else; one fault before a drawn plan, in whose diagram
    several meet.
    """
    return not cell.doubled, bool(cell.dimensions.get("drawn")), -cell.doubled


def did(side: Did) -> str:
    """What one side does on some evidence."""
    return f"{side.does}: {span(side.attempts)} sent, {span(side.executions)} run, {side.outcome}"


def versions(sign_off: SignOff) -> str:
    """Of both sides, once where it is the same."""
    base, candidate = (side.subject.version or "version unknown" for side in (sign_off.base, sign_off.candidate))
    return f"both {base}" if base == candidate else f"{base} → {candidate}"


def alike(decisions: Iterable[Decision]) -> dict[tuple[str, str, str, str], list[str]]:
    """Rows of a decision table: what was true, what that proves, and what both do; with all evidence of which the same
    is to be said.
    """
    rows: dict[tuple[str, str, str, str], list[str]] = {}
    for each in decisions:
        done = "done" if each.truth == "executed" else "not done"
        rows.setdefault((done, each.class_, did(each.base), did(each.candidate)), []).append(each.evidence)
    return rows


def span(ends: tuple[int, int] | None) -> str:
    """ "2", or "1-2"."""
    if ends is None:
        return "?"
    return str(ends[0]) if ends[0] == ends[1] else f"{ends[0]}-{ends[1]}"


def plan_file(id_: str) -> str:
    """The name of the file with its plan, in plans/."""
    return f"{id_.replace('/', '--')}.json"


def replay_command(cell: CellReport, plans: str, subject: str) -> str:
    """What lives through it again, as a shell takes it; empty where there is no plan of it. plans: the folder of plans;
    subject: as it was called, empty where nobody knows.
    """
    if cell.verdict == "not_run" or (cell.phase == FUTURES and cell.smallest is None):
        return ""
    on = ("--subject", subject) if subject else ()
    return shlex.join(("retryproof", "replay", f"{plans}/{plan_file(cell.id)}", *on))


def counted(count: int, what: str) -> str:
    """ "1 cell", "2 cells"."""
    return f"{count} {what}{'' if count == 1 else 's'}"
