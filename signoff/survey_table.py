"""A survey as a table: faults as rows, in wire order; subjects as columns, by their kind."""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from faults.catalogue import fault_named, is_fault
from signoff.published import Kind, Mark, Published, PublishedCell
from suites.cells import all_cells
from suites.judge import invariant_of

SIGNS: dict[Mark, str] = {
    Mark.HOLDS: "✓",
    Mark.MUST: "✗",
    Mark.SHOULD: "!",
    Mark.TELLS: "○",
    Mark.VARIES: "≈",
    Mark.UNKNOWN: "?",
    Mark.NOT_RUN: "-",
}
MEANINGS: dict[Mark, str] = {
    Mark.HOLDS: "every must and every should holds",
    Mark.MUST: "a must is broken: of RFC 9110, or of what the subject promises",
    Mark.SHOULD: "a should is broken, such as a safe retry that was not made",
    Mark.TELLS: "nothing is prescribed: what it does is recorded, five times the same",
    Mark.VARIES: "it went otherwise when it was repeated",
    Mark.UNKNOWN: "it proved nothing, for the reason that stands there",
    Mark.NOT_RUN: "it cannot be reached, for the reason that stands there",
}
KINDS: dict[Kind, str] = {
    "forwarders": "Proxies, routers and servers",
    "clients": "Clients",
    "chains": "Chains",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One cell of the catalogue, in every subject that has it."""

    id: str
    phase: str
    fault: str
    dimension: str
    says: str


def rows_of(results: Iterable[Published]) -> tuple[Row, ...]:
    """Every cell that any of them has, in wire order; what the catalogue does not know comes last."""
    known = {cell.id: place for place, cell in enumerate(all_cells())}
    found = {cell.id: cell for result in results for cell in result.cells}
    ordered = sorted(found.values(), key=lambda cell: (known.get(cell.id, len(known)), cell.id))
    return tuple(_row(cell) for cell in ordered)


def _row(cell: PublishedCell) -> Row:
    return Row(
        id=cell.id,
        phase=cell.phase,
        fault=cell.fault,
        dimension=cell.id.rpartition("/")[2],
        says=fault_named(cell.fault).says if is_fault(cell.fault) else "",
    )


def by_subject(results: Sequence[Published]) -> list[tuple[Published, ...]]:
    """Its configurations together."""
    return [tuple(group) for _, group in groupby(results, key=lambda each: each.subject.partition(":")[0])]


def columns_at_most(results: Sequence[Published], most: int) -> list[tuple[Published, ...]]:
    """So many in one table, unless one subject alone has more."""
    tables: list[tuple[Published, ...]] = []
    for group in by_subject(results):
        if tables and len(tables[-1]) + len(group) <= most:
            tables[-1] += group
        else:
            tables.append(group)
    return tables


def sent(cell: PublishedCell) -> str:
    """ "2/1": sent twice, executed once."""
    return f"{'?' if cell.attempts is None else cell.attempts}/{cell.executions}"


def outcome(cell: PublishedCell) -> str:
    """What the caller had in the end."""
    return cell.outcome if cell.status is None else f"{cell.outcome} {cell.status}"


def seen(cell: PublishedCell) -> tuple[str, ...]:
    """What its findings say, or why there are none."""
    said = tuple(each.says for each in cell.findings if each.verdict != "PASS" or each.kind == "tells")
    return (cell.reason,) if cell.reason else said


def checks_of(results: Iterable[Published]) -> dict[str, str]:
    """Every check that has a finding in them, and what it holds everybody to."""
    names = {each.check for result in results for cell in result.cells for each in cell.findings}
    return {name: invariant for name in sorted(names) if (invariant := invariant_of(name))}


def replay(result: Published, cell: PublishedCell) -> str:
    """What lives through it again, as a shell takes it; empty where it was not run."""
    if cell.mark is Mark.NOT_RUN:
        return ""
    return shlex.join(("retryproof", "check", result.subject, "--depth", result.depth, "--only", cell.id))
