"""What report.md is made of: tables, folded parts, and one broken cell with its diagram."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from signoff.cell_words import broken, lived, replay_command
from signoff.clipping import Section
from signoff.marked_text import code, escaped
from signoff.mermaid import mermaid
from signoff.report import CellReport

MARKER = "<!-- retryproof -->"  # by which whoever posts it finds it again
SHOWN_WHOLE = 3  # broken cells with their diagram, one of each kind
_FINDINGS = 5  # of one cell
_ROWS = 200  # of one table
_Each = TypeVar("_Each")
SIGNS = {"PASS": "✅", "MAY SHIP": "✅", "FAIL": "❌", "BLOCK": "❌", "UNKNOWN": "⚠️", "UNPROVEN": "⚠️"}


def table(
    name: str, columns: Mapping[str, Callable[[_Each], str]], found: Sequence[_Each], *, where: str, fold: bool = True
) -> Section:
    """One row for each of them. columns: by their names, what stands there, as Markdown without a line break or a bare
    `|`.
    """
    rows = tuple(f"| {' | '.join(shown(each) for shown in columns.values())} |" for each in found[:_ROWS])
    header = f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}\n"
    title = f"<details><summary>{escaped(name)}</summary>" if fold else f"### {escaped(name)}"
    foot = "\n</details>\n" if fold else ""
    return Section(
        name=name, head=f"{title}\n\n{header}", rows=rows, more=len(found) - len(rows), foot=foot, where=where
    )


def paragraph(name: str, *lines: str) -> Section:
    """Lines that stay together."""
    return Section(name=name, head="".join(f"{line}\n" for line in lines))


def broken_cell(cell: CellReport, says: str, *, subject: str, plans: str, where: str, first: bool) -> Section:
    """What one cell broke, what passed between whom, and the command that lives through it again. The first of them is
    not folded.
    """
    replay = replay_command(cell, plans, subject)
    findings = tuple(f"- **{escaped(each.check)}** ({each.kind}): {escaped(each.says)}" for each in broken(cell))
    drawn = mermaid(cell.diagram)
    return Section(
        name=cell.id,
        head=f"<details{' open' if first else ''}><summary>{code(cell.id)}: {escaped(says)}</summary>\n\n"
        f"The forwarder saw {code(cell.evidence)} ({escaped(cell.class_)}). {escaped(lived(cell))}\n\n",
        rows=findings[:_FINDINGS],
        more=max(0, len(findings) - _FINDINGS),
        foot=f"\n{drawn}\n\n{code(replay, 1_000) if replay else ''}\n\n</details>\n",
        where=where,
    )
