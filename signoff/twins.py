"""Same evidence, same decision: each cell is held against its twin's. Pure, of what was lived through."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from signoff.results import Examination, Result
from suites.findings import Finding, Verdict
from suites.judge import held_against, judgement_of
from suites.lives import doubted, stalled


def add_twins(examination: Examination) -> None:
    """What each cell shows beside its twin's is added to what it shows by itself."""
    for result, twin in list(_pairs(examination)):
        found: Iterable[Finding] = held_against(result.run, twin.run)
        if stalled(result.run) or stalled(twin.run):
            found = doubted(found, max(result.run.stalled_ms, twin.run.stalled_ms))
        judgement = judgement_of((*result.judgement.findings, *found))
        examination.results[result.item.id] = replace(result, judgement=judgement)


def doubted_by_twins(examination: Examination) -> list[Result]:
    """What passed by itself in a run in which this machine stalled, and went otherwise than its twin's, or than one
    whose twin it is: the stall may be all that it shows. Each once.
    """
    found: dict[str, Result] = {}
    for pair in _pairs(examination):
        if any(finding.verdict is Verdict.FAIL for finding in held_against(*(one.run for one in pair))):
            found.update(
                (one.item.id, one) for one in pair if stalled(one.run) and one.judgement.verdict is Verdict.PASS
            )
    return list(found.values())


def _pairs(examination: Examination) -> Iterator[tuple[Result, Result]]:
    """Each cell and its twin's, where both were judged."""
    for result in examination.in_order():
        cell = result.item.cell
        twin = examination.results.get(cell.twin) if cell is not None and cell.twin is not None else None
        if twin is not None and not result.judgement.not_run and not twin.judgement.not_run:
            yield result, twin
