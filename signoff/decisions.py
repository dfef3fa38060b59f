"""The decision table of a sign-off: what the forwarder saw, what was true, and what each side does. Learnt from the
cells of two reports, whatever ran them.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from faults.vocabulary import Class, Phase, Sight
from signoff.comparison import judged_pairs
from signoff.report import CellReport, Report
from signoff.sign_off import Decision, Did

SENDS_AGAIN = "sends again"
GIVES_UP = "gives up"
ANSWERS = "answers"
VARIES = "varies"
NOT_RUN = "not run"

_WAS = {
    SENDS_AGAIN: "sent again",
    GIVES_UP: "gave up",
    ANSWERS: "answered",
    VARIES: "did now this, now that",
    NOT_RUN: "was not run",
}
_UNSENT = frozenset({Phase.RESOLVE, Phase.CONNECT, Phase.TLS})  # the first sending has come to nothing
_IN_WORDS = {
    Phase.ACCEPT: "before the router had read a byte",
    Phase.REQUEST: "while the request was being read",
    Phase.CONTENT: "its content wrong",
    Phase.STREAM: "of a stream",
    Phase.BODY: "its body cut, or delimited in an unusual way",
    Phase.AFTER: "with more behind it",
    Phase.TIME: "late, or bit by bit",
    Phase.RESOLVE: "at an address that a name led to",
}

Key = tuple[str, str, str, str]  # phase, evidence, class, truth
Pair = tuple[CellReport, CellReport]  # one cell on both sides


def decisions_of(base: Report, candidate: Report) -> tuple[Decision, ...]:
    """One row for each kind of evidence and truth that both sides met, in the base's order, twins beside each other."""
    rows: dict[Key, list[Pair]] = {}
    for cell, other in judged_pairs(base, candidate):
        if _decides(cell) and _decides(other):
            key = (cell.phase, cell.evidence, _class_of(cell, other), cell.truth)
            rows.setdefault(key, []).append((cell, other))
    order = list(dict.fromkeys(key[:3] for key in rows))
    return tuple(_decision(key, rows[key]) for key in sorted(rows, key=lambda key: (order.index(key[:3]), key[3])))


def _decides(cell: CellReport) -> bool:
    """One operation met one fault, its caller stayed, and what the forwarder did is judged, and does not vary."""
    stayed = bool(cell.truth) and not cell.dimensions.get("leaves") and cell.phase != Phase.NONE
    return stayed and not cell.tells and not cell.varies


def _decision(key: Key, pairs: Sequence[Pair]) -> Decision:
    phase, evidence, class_, truth = key
    base, candidate = did(was for was, _ in pairs), did(now for _, now in pairs)
    changes = [change for change in map(changed, pairs) if change is not None]
    saw = in_words(phase, evidence)
    return Decision(
        evidence=saw,
        class_=class_,
        truth="executed" if truth == "executed" else "not executed",
        base=base,
        candidate=candidate,
        changed=bool(changes),
        says=_sentence(saw, key, changes, len(pairs)) if changes else "",
    )


def _class_of(was: CellReport, now: CellReport) -> str:
    """What the evidence proves; each side has a contract of its own."""
    return was.class_ if was.class_ == now.class_ else f"{was.class_} -> {now.class_}"


def did(cells: Iterable[CellReport]) -> Did:
    """What one side did in these cells, all of one kind."""
    cells = list(cells)
    does = {_decided(cell) for cell in cells}
    counted = [cell.attempts for cell in cells if cell.attempts is not None]
    runs = [cell.executions for cell in cells]
    return Did(
        does=does.pop() if len(does) == 1 else VARIES if does else NOT_RUN,
        attempts=(min(counted), max(counted)) if counted else None,
        executions=(min(runs), max(runs)) if runs else None,
        outcome=", ".join(dict.fromkeys(cell.outcome for cell in cells)),
        cells=tuple(cell.id for cell in cells),
    )


def _decided(cell: CellReport) -> str:
    if (cell.attempts or 0) > 1 or cell.executions > 1:
        return SENDS_AGAIN
    if cell.outcome != "ok":
        return GIVES_UP
    return SENDS_AGAIN if cell.attempts is None and cell.phase in _UNSENT else ANSWERS


def in_words(phase: str, evidence: str) -> str:
    """What the forwarder saw, as a reviewer says it: "503", "reset before any reply byte (of a stream)"."""
    seen = evidence.removeprefix(f"{Sight.STATUS} ")
    if phase not in _IN_WORDS or seen == Sight.UNRESOLVED:
        return seen
    return f"{seen} ({_IN_WORDS[Phase(phase)]})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """One cell in which the sides do not do the same. worse: the candidate sends more often."""

    says: str
    worse: bool
    executions: int


def changed(pair: Pair) -> Changed | None:
    """What the sides do otherwise in that cell; None where both do the same, or nobody counted."""
    was, now = pair
    did_, does = _decided(was), _decided(now)
    if did_ != does:
        return Changed(says=f"{_WAS[did_]}, now {does}", worse=does == SENDS_AGAIN, executions=now.executions)
    if was.attempts is None or now.attempts is None or was.attempts == now.attempts:
        return None
    says = f"sent {was.attempts} times, now {now.attempts} times"
    return Changed(says=says, worse=now.attempts > was.attempts, executions=now.executions)


def _sentence(saw: str, key: Key, changes: Sequence[Changed], cells: int) -> str:
    """ "503, after the work was done: gave up, now sends again (executed twice)": the worst of what changed."""
    _, _, class_, truth = key
    when = "after the work was done" if truth == "executed" else "before any work was done"
    counts = Counter(change.says for change in changes)
    worst = max(changes, key=lambda change: (change.worse, counts[change.says]))
    alike = [change for change in changes if change.says == worst.says]
    ran = max(change.executions for change in alike)
    times = {0: "", 1: "", 2: " (executed twice)"}.get(ran, f" (executed {ran} times)")
    some = "" if len(alike) == cells else f", in {len(alike)} of {cells} cells"
    safe = "; the evidence proves that nothing ran" if class_ == Class.SAFE else ""
    return f"{saw}, {when}: {worst.says}{times}{some}{safe}"
