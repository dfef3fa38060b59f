"""How long callers wait for a failure, in multiples of the time-outs that a subject states."""

from collections.abc import Sequence
from statistics import median
from typing import Literal

from faults.vocabulary import Phase, Sight
from signoff.comparison import judged_pairs
from signoff.decisions import Pair, in_words
from signoff.diagram import CALLER
from signoff.report import CellReport, Report, SubjectReport
from signoff.sign_off import GivingUp

_CONNECTING = frozenset({Sight.CONNECT_TIMEOUT, Sight.TLS_STALLED})
_WAITING = frozenset({Sight.SILENCE, Sight.STALL, Sight.POOL_WAIT, *_CONNECTING})  # what is seen only by waiting

NOTABLE = 0.5  # of a time-out: less comes of the load of this machine

Timeout = Literal["connect", "read"]


def giving_up_of(base: Report, candidate: Report) -> tuple[GivingUp, ...]:
    """One row for each kind of silence that ended in a failure on either side: everything else fails at once.

    The median over the cells of a kind that were judged on both sides. Of a side that states no time-out, or in all of
    whose cells this machine stalled, nobody knows how many it waits.
    """
    rows = []
    for (evidence, of), pairs in _silent(judged_pairs(base, candidate)).items():
        waited = [[cell for cell in side if _failed(cell)] for side in zip(*pairs, strict=True)]
        timed = [[cell for cell in side if not cell.stalled] for side in waited]
        timeouts = [_timeout_ms(side.subject, of) for side in (base, candidate)]
        unknown = any(cells and not (ms and heard) for cells, heard, ms in zip(waited, timed, timeouts, strict=True))
        if unknown or not any(waited):
            continue
        was, now = (_multiple(cells, of, ms) for cells, ms in zip(timed, timeouts, strict=True))
        changed = (was is None) is not (now is None) or abs((now or 0) - (was or 0)) >= NOTABLE
        cells = tuple(dict.fromkeys(cell.id for side in waited for cell in side))
        rows.append(GivingUp(evidence=evidence, of=of, base=was, candidate=now, changed=changed, cells=cells))
    return tuple(rows)


def _silent(pairs: Sequence[Pair]) -> dict[tuple[str, Timeout], list[Pair]]:
    """By what the forwarder saw, and which time-out ends it; where the caller stayed."""
    found: dict[tuple[str, Timeout], list[Pair]] = {}
    for was, now in pairs:
        sight = next((sight for sight in _WAITING if now.evidence.startswith(sight)), None)
        if sight is None or not now.truth or now.dimensions.get("leaves") or now.phase == Phase.NONE:
            continue
        of: Timeout = "connect" if sight in _CONNECTING else "read"
        found.setdefault((in_words(now.phase, now.evidence), of), []).append((was, now))
    return found


def _failed(cell: CellReport) -> bool:
    return cell.outcome in ("failed", "unknown")


def _timeout_ms(subject: SubjectReport, of: Timeout) -> int:
    """0 where an older report says none."""
    return subject.connect_timeout_ms if of == "connect" else subject.read_timeout_ms


def _multiple(cells: Sequence[CellReport], of: Timeout, timeout_ms: int) -> float | None:
    return round(median(_waited_ms(cell, of) for cell in cells) / timeout_ms, 1) if cells else None


def _waited_ms(cell: CellReport, of: Timeout) -> float:
    """For an answer from when the router first saw anything of it: what the forwarder took until then is no wait for
    a failure, and on a machine that is busy it is most of a time-out.
    """
    seen = (step.ms for step in cell.diagram if step.who != CALLER and step.whom != CALLER)
    return cell.delay_ms - (next(seen, 0) if of == "read" else 0)
