"""who-retries-what.md: what was seen of every subject, as tables."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from signoff.marked_text import code, escaped
from signoff.published import Mark, Published, PublishedCell
from signoff.survey_table import (
    KINDS,
    MEANINGS,
    SIGNS,
    Row,
    by_subject,
    checks_of,
    columns_at_most,
    outcome,
    rows_of,
    seen,
    sent,
)

COLUMNS = 8  # of one table: as many as a screen shows
CELLS = 12  # named in one line; all are in the JSON
FINDINGS = 3  # told in one line
_HEAD = """\
# Who retries what

Forwarders and clients in front of a router that breaks at an exact point of the exchange and knows what it really did.
Written by `retryproof survey` from the files in [results/](../results); [the same as a page with
filters](who-retries-what.html) has every finding, and the command that lives through it again.

**It is a basis for talk with the makers, not a league table.** What is said of a subject is what was seen of this
version with this configuration on one machine, and no more. A configuration that sends POST again does what it was told
to; whether that is wanted depends on what stands behind it. How it is judged: [rules.md](rules.md).

`2/1` means: by the router's ledger the operation was sent twice, and ran once.

| sign | means |
|---|---|
"""
_AGAIN = """\

## Again

`retryproof survey` examines all that can run here, and names what cannot with the command that installs it.
`retryproof survey --compare` holds what is seen now against what was published of the same version: see
[survey.md](survey.md).
"""


def markdown_of_survey(results: Sequence[Published]) -> bytes:
    """The same for the same results."""
    lines = [_HEAD + "\n".join(f"| {SIGNS[mark]} {mark} | {MEANINGS[mark]} |" for mark in Mark), ""]
    for kind, title in KINDS.items():
        of_kind = [result for result in results if result.kind == kind]
        lines += _tables(title, of_kind)
    lines += ["", "## What was seen", ""]
    lines += ["| check | holds everybody to | did not hold, in how many cells |", "|---|---|---|"]
    lines += [
        f"| {code(name)} | {escaped(invariant)} | {_broken_in(results, name)} |"
        for name, invariant in checks_of(results).items()
    ]
    for group in by_subject(results):
        lines += ["", f"### {escaped(group[0].subject.partition(':')[0])}"]
        for result in group:
            lines += _configuration(result)
    return ("\n".join(lines) + "\n" + _AGAIN).encode()


def _broken_in(results: Sequence[Published], check: str) -> str:
    """Every configuration in which that was seen."""
    counts = {
        result.subject: sum(
            any(each.check == check and each.verdict == "FAIL" for each in cell.findings) for cell in result.cells
        )
        for result in results
    }
    return ", ".join(f"{code(subject)} {count}" for subject, count in counts.items() if count)


def _tables(title: str, results: Sequence[Published]) -> Iterator[str]:
    if not results:
        return
    yield from ("", f"## {title}")
    for columns in columns_at_most(results, COLUMNS):
        yield from _table(columns)


def _table(columns: Sequence[Published]) -> Iterator[str]:
    cells = [{cell.id: cell for cell in result.cells} for result in columns]
    yield from ("", f"| fault | in | {' | '.join(map(_heading, columns))} |", f"|---|---|{'---|' * len(columns)}")
    for phase, rows in groupby(rows_of(columns), key=lambda row: row.phase):
        yield f"| **{phase}** | |{' |' * len(columns)}"
        yield from (_row(row, [of.get(row.id) for of in cells]) for row in rows)


def _heading(result: Published) -> str:
    name, _, variant = result.subject.partition(":")
    return f"{escaped(f'{name} {result.number}')}{f'<br>{escaped(variant)}' if variant else ''}"


def _row(row: Row, cells: Sequence[PublishedCell | None]) -> str:
    return f"| `{row.fault}` | {row.dimension} | {' | '.join(map(_cell, cells))} |"


def _cell(cell: PublishedCell | None) -> str:
    if cell is None:
        return ""
    return SIGNS[cell.mark] if cell.mark is Mark.NOT_RUN else f"{SIGNS[cell.mark]} {sent(cell)}"


def _configuration(result: Published) -> Iterator[str]:
    counts = ", ".join(f"{count} {mark}" for mark, count in result.counts().items() if count)
    yield from ("", f"#### {escaped(result.subject)}", "")
    times = f"connect {result.connect_timeout_ms} ms, read {result.read_timeout_ms} ms"
    yield f"{escaped(result.version)}; promises {result.promises}; time-outs: {times}. {counts}."
    if values := [code(f"{name} = {text}") for name, text in result.values.items() if text]:
        yield from ("", f"Set: {', '.join(values)}")
    groups: dict[tuple[str, ...], list[PublishedCell]] = {}
    for cell in result.cells:
        if cell.mark is not Mark.HOLDS:
            groups.setdefault(_alike(cell), []).append(cell)
    if not groups:
        return
    yield from ("", "| | cells | sent/run | the caller had | seen |", "|---|---|---|---|---|")
    for mark in Mark:
        yield from (_group(cells) for cells in groups.values() if cells[0].mark is mark)
    yield from ("", f"Again: {code(f'retryproof check {result.subject} --depth {result.depth} --only CELL')}")


def _alike(cell: PublishedCell) -> tuple[str, ...]:
    """Cells of which the same is to be said are one line."""
    if cell.mark in (Mark.NOT_RUN, Mark.UNKNOWN):
        return cell.mark, cell.reason
    return cell.mark, sent(cell), outcome(cell), *(each.check for each in cell.findings)


def _group(cells: Sequence[PublishedCell]) -> str:
    first = cells[0]
    named = ", ".join(code(cell.id) for cell in cells[:CELLS])
    more = f" and {len(cells) - CELLS} more" if len(cells) > CELLS else ""
    run = ("", "") if first.mark is Mark.NOT_RUN else (sent(first), escaped(outcome(first)))
    checks = ", ".join(dict.fromkeys(each.check for each in first.findings))
    says = f"{f'{escaped(checks)}: ' if checks else ''}{_says(first)}"
    return f"| {SIGNS[first.mark]} | {named}{more} | {run[0]} | {run[1]} | {says} |"


def _says(cell: PublishedCell) -> str:
    """The first of its findings."""
    said = seen(cell)
    more = f"; and {len(said) - FINDINGS} more" if len(said) > FINDINGS else ""
    return "; ".join(map(escaped, said[:FINDINGS])) + more
