"""`retryproof signoff`: the same plans against base and candidate, and what changes for whom."""

import argparse

from rich.console import Console
from rich.text import Text

from retryproof.cells import MAX_ROWS, outcome_of
from retryproof.command import EXIT_CODES, Command
from retryproof.examine import examine_subject, items_for
from retryproof.exits import Exit
from retryproof.options import add_examine_options, examine_options
from retryproof.terminal import console, print_indented, print_labelled, print_line, sheet
from retryproof.url_options import refuse_urls
from signoff.comparison import CellChange, Change, Comparison, compare, failed_checks
from signoff.report import CellReport

_DESCRIPTION = """\
Sign off a change of retry policy: the same plans against BASE and CANDIDATE,
and the cells that differ."""

_EPILOG = f"""\
what a cell can be:
  regressed     a must that held is broken: blocks
  still broken  broken before and after: warns; blocks with --strict
  fixed         a must that was broken holds
  weaker        a safe retry lost, a poorer outcome, or more attempts for the
                same outcome: warns
  stronger      the reverse
  unproven      a side proved nothing, or only one side could run it
  same          no difference

examples:
  retryproof signoff reference:safe reference:blanket-5xx
  retryproof signoff nginx nginx:retry-non-idempotent --only 'wait/*'
  retryproof signoff old.toml new.toml --examples 2000 --strict

{EXIT_CODES}

  For a sign-off 0 means that the change may ship, 1 that it blocks, 3 that it
  is unproven, and 4 that either side could not run."""

_STYLES = {Change.REGRESSED: "bold red", Change.FIXED: "green", Change.UNPROVEN: "yellow"}


def _options(parser: argparse.ArgumentParser) -> None:
    what = "a built-in name, a variant of one, or a TOML file"
    parser.add_argument("base", metavar="BASE", help=f"the subject as it is: {what}")
    parser.add_argument("candidate", metavar="CANDIDATE", help="the subject as it shall be: likewise")
    add_examine_options(parser)


def _run(options: argparse.Namespace) -> Exit:
    wanted = examine_options(options)
    names = (options.base, options.candidate)
    refuse_urls(names)
    items = items_for(names, wanted)
    terminal = console(quiet=wanted.quiet)
    sides = [examine_subject(name, items, wanted, terminal) for name in names]
    comparison = compare(sides[0].report, sides[1].report)
    code = Exit(comparison.exit_code(strict=wanted.strict))
    _print_comparison(terminal, comparison, code)
    for side in sides:
        print_line(terminal, f"report of {side.name}: {side.folder.path / 'report.json'}")
    return code


def _print_comparison(out: Console, comparison: Comparison, code: Exit) -> None:
    counts = comparison.counts()
    verdict, style = {Exit.FAIL: ("BLOCK", "bold red"), Exit.UNKNOWN: ("UNPROVEN", "yellow")}.get(
        code, ("MAY SHIP", "green")
    )
    changes = ", ".join(f"{counts[change]} {change}" for change in Change)
    subjects = f"{comparison.base.subject.name} -> {comparison.candidate.subject.name}"
    print_line(out, Text.assemble((verdict, style), f" {subjects}: {changes}"))
    groups: dict[tuple[Change, str], list[CellChange]] = {}
    for cell in comparison.differing():
        groups.setdefault((cell.change, _about(cell)), []).append(cell)
    order = list(Change)
    for change, about in sorted(groups, key=lambda group: (order.index(group[0]), group[1])):
        _print_group(out, change, about, groups[change, about])
    print_line(out, "")


def _about(cell: CellChange) -> str:
    """What the cells of a group have in common: the checks that differ, or the words for it."""
    assert cell.change is not Change.SAME or cell.says
    base, candidate = (failed_checks(side) if side else frozenset() for side in (cell.base, cell.candidate))
    match cell.change:
        case Change.REGRESSED:
            return ", ".join(sorted(candidate - base))
        case Change.STILL_BROKEN:
            return ", ".join(sorted(candidate))
        case Change.FIXED:
            return ", ".join(sorted(base))
        case Change.SAME:
            return "tells otherwise: recorded, not judged"
        case _:
            return cell.says


def _print_group(out: Console, change: Change, about: str, cells: list[CellChange]) -> None:
    count = f"{len(cells)} cell{'' if len(cells) == 1 else 's'}"
    print_line(out, "")
    out.print(Text.assemble((change.upper(), _STYLES.get(change, "bold")), f" {about}: {count}"))
    table = sheet(out, "cell", "base", "candidate", fold=("base", "candidate"))
    for cell in cells[:MAX_ROWS]:
        table.add_row(cell.id, _side(cell.base), _side(cell.candidate))
    print_indented(out, table)
    if len(cells) > MAX_ROWS:
        print_line(out, f"  and {len(cells) - MAX_ROWS} more, in the reports")
    if cells[0].says != about:
        print_labelled(out, ("  e.g.", cells[0].says))


def _side(cell: CellReport | None) -> str:
    if cell is None:
        return "-"
    if cell.verdict == "not_run":
        return "not run"
    attempts = "?" if cell.attempts is None else cell.attempts
    return f"{cell.verdict}: {attempts} sent, {cell.executions} run, {outcome_of(cell)}"


COMMAND = Command(
    name="signoff",
    description=_DESCRIPTION,
    epilog=_EPILOG,
    options=_options,
    run=_run,
)
