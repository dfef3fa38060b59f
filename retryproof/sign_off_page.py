"""A sign-off on a terminal: the verdict, what matters, what decisions changed, and then the cells that differ."""

from rich.console import Console
from rich.text import Text

from retryproof.cells import MAX_ROWS
from retryproof.sign_off_measures import print_measures
from retryproof.terminal import print_indented, print_labelled, print_line, sheet
from signoff.cell_words import alike, lived
from signoff.rules import Change
from signoff.sign_off import CellDifference, SignOff

_STYLES = {"BLOCK": "bold red", "UNPROVEN": "yellow", "MAY SHIP": "green"}
_CHANGES = {Change.REGRESSED: "bold red", Change.FIXED: "green", Change.UNPROVEN: "yellow"}

_Group = tuple[str, str]  # the change, and what the cells have in common


def print_sign_off(out: Console, sign_off: SignOff) -> None:
    """All of it, for a person."""
    _print_headline(out, sign_off)
    _print_decisions(out, sign_off)
    print_measures(out, sign_off)
    _print_cells(out, sign_off)
    _print_allowances(out, sign_off)
    print_line(out, "")


def _print_headline(out: Console, sign_off: SignOff) -> None:
    changes = ", ".join(f"{sign_off.counts.get(change, 0)} {change}" for change in Change)
    excused = sum(cell.excused is not None for cell in sign_off.cells)
    changes += f"; {excused} excused" if excused else ""
    base = f"{sign_off.base.named}{' (of before)' if sign_off.base.earlier else ''}"
    subjects = f"{base} -> {sign_off.candidate.named}"
    print_line(out, Text.assemble((sign_off.verdict, _STYLES[sign_off.verdict]), f" {subjects}: {changes}"))
    for line in sign_off.matter:
        print_line(out, f"  {line}")
    for note in sign_off.notes:
        print_line(out, f"note: {note}")


def _print_decisions(out: Console, sign_off: SignOff) -> None:
    changed = [decision for decision in sign_off.decisions if decision.changed]
    if not changed:
        return
    print_line(out, "")
    print_line(out, f"decisions that changed: {len(changed)} of {len(sign_off.decisions)}")
    names = ("the forwarder saw", "the work was", "class", "base", "candidate")
    table = sheet(out, *names, fold=("the forwarder saw", "base", "candidate"))
    rows = alike(changed)
    for does, saw in list(rows.items())[:MAX_ROWS]:
        table.add_row(Text("\n".join(saw)), *does)
    print_indented(out, table)
    if len(rows) > MAX_ROWS:
        print_line(out, f"  and {len(rows) - MAX_ROWS} more, in signoff.json")


def _print_cells(out: Console, sign_off: SignOff) -> None:
    groups: dict[_Group, list[CellDifference]] = {}
    for cell in sign_off.cells:
        if cell.change != Change.SAME.value or cell.says:
            groups.setdefault((cell.change, cell.about), []).append(cell)
    order = list(Change)
    for change, about in sorted(groups, key=lambda group: (order.index(Change(group[0])), group[1])):
        _print_group(out, Change(change), about, groups[change, about])


def _print_group(out: Console, change: Change, about: str, cells: list[CellDifference]) -> None:
    count = f"{len(cells)} cell{'' if len(cells) == 1 else 's'}"
    print_line(out, "")
    print_line(out, Text.assemble((change.upper(), _CHANGES.get(change, "bold")), f" {about}: {count}"))
    excused = any(cell.excused is not None for cell in cells)
    names = ("cell", "base", "candidate", *(("allowance",) if excused else ()))
    table = sheet(out, *names, fold=("base", "candidate"))
    for cell in cells[:MAX_ROWS]:
        allowance = () if not excused else ("" if cell.excused is None else f"number {cell.excused + 1}",)
        table.add_row(cell.id, lived(cell.base), lived(cell.candidate), *allowance)
    print_indented(out, table)
    if len(cells) > MAX_ROWS:
        print_line(out, f"  and {len(cells) - MAX_ROWS} more, in signoff.json")
    if cells[0].says != about:
        print_labelled(out, ("  e.g.", cells[0].says))


def _print_allowances(out: Console, sign_off: SignOff) -> None:
    if not sign_off.allowances:
        return
    print_line(out, "")
    table = sheet(out, "allowance", "cells", "state", "excused", "expires", "owner", "reason", fold=("reason", "cells"))
    for number, entry in enumerate(sign_off.allowances, 1):
        words = (entry.cells, entry.state, str(entry.excused), entry.expires, entry.owner, entry.reason)
        table.add_row(str(number), *map(Text, words))
    out.print(table)
