"""How long callers wait for a failure, in multiples of the time-outs that a subject states."""

from collections.abc import Sequence
from statistics import median
from typing import Literal

from faults.vocabulary import Phase, Sight
from signoff.decisions import in_words
from signoff.report import CellReport, Report, SubjectReport
from signoff.sign_off import GivingUp

_CONNECTING = frozenset({Sight.CONNECT_TIMEOUT, Sight.TLS_STALLED})
_WAITING = frozenset({Sight.SILENCE, Sight.STALL, Sight.POOL_WAIT, *_CONNECTING})  # what is seen only by waiting

NOTABLE = 0.5  # of a time-out: less comes of the load of this machine

Timeout = Literal["connect", "read"]


def giving_up_of(base: Report, candidate: Report) -> tuple[GivingUp, ...]:
    """One row for each kind of silence that ended in a failure on either side: everything else fails at once.

    The median over the cells of a kind; a report without time-outs has none.
    """
    both = _waits(base), _waits(candidate)
    rows = []
    for evidence, of in dict.fromkeys([*both[0], *both[1]]):
        waits = [side.get((evidence, of), []) for side in both]
        was, now = (_multiple(cells, side.subject, of) for cells, side in zip(waits, (base, candidate), strict=True))
        if any(cells and not _timed(cells) for cells in waits):
            continue  # this machine stalled in all of them
        changed = (was is None) is not (now is None) or abs((now or 0) - (was or 0)) >= NOTABLE
        cells = tuple(dict.fromkeys(cell.id for side in waits for cell in side))
        rows.append(GivingUp(evidence=evidence, of=of, base=was, candidate=now, changed=changed, cells=cells))
    return tuple(rows)


def _timed(cells: Sequence[CellReport]) -> list[CellReport]:
    return [cell for cell in cells if not cell.stalled]


def _waits(report: Report) -> dict[tuple[str, Timeout], list[CellReport]]:
    found: dict[tuple[str, Timeout], list[CellReport]] = {}
    for cell in report.cells:
        sight = next((sight for sight in _WAITING if cell.evidence.startswith(sight)), None)
        failed = cell.verdict in ("PASS", "FAIL") and cell.outcome in ("failed", "unknown")
        if sight is None or not failed or not cell.truth or cell.dimensions.get("leaves") or cell.phase == Phase.NONE:
            continue
        of: Timeout = "connect" if sight in _CONNECTING else "read"
        found.setdefault((in_words(cell.phase, cell.evidence), of), []).append(cell)
    return found


def _multiple(cells: Sequence[CellReport], subject: SubjectReport, of: Timeout) -> float | None:
    timeout_ms = subject.connect_timeout_ms if of == "connect" else subject.read_timeout_ms
    timed = _timed(cells)
    if not timed or not timeout_ms:
        return None
    return round(median(cell.delay_ms for cell in timed) / timeout_ms, 1)
