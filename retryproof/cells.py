"""The cells that need a reader, grouped by what they have in common; and what the verdict rests on."""

from collections.abc import Iterable

from rich.columns import Columns
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from retryproof.terminal import INDENT, STYLES, print_indented, print_labelled, print_line, sheet
from signoff.report import CellReport, Report
from suites.judge import invariant_of

MAX_ROWS = 30  # of one group; the rest is in report.json
WIDE = 90  # columns from which on there is room for the class

Group = tuple[str, tuple[str, ...]]  # heading, the checks that it is about


def print_headline(out: Console, report: Report) -> None:
    """The verdict, in one line."""
    counts = report.counts
    line = Text.assemble(
        (report.verdict, STYLES[report.verdict]),
        f" {report.subject.name} ({report.subject.version or 'version unknown'}, promises {report.subject.promises}): "
        f"{counts['PASS']} passed, {counts['FAIL']} failed, {counts['UNKNOWN']} unknown, "
        f"{counts['not_run']} not run, {counts['warnings']} warnings; "
        f"seed {report.seed}, {report.examples_per_second:g} plans/s",
    )
    print_line(out, line)


def print_groups(out: Console, report: Report) -> None:
    """Every cell that did not pass, that warns or that only tells, with others of its kind; the checks first."""
    groups: dict[Group, list[CellReport]] = {}
    for cell in report.cells:
        if (group := _group(cell)) is not None:
            groups.setdefault(group, []).append(cell)
    for group in sorted(groups, key=_rank):
        _print_group(out, *group, groups[group])


def _group(cell: CellReport) -> Group | None:
    musts = [finding for finding in cell.findings if finding.kind == "must"]
    if cell.verdict in ("FAIL", "UNKNOWN"):
        return cell.verdict, _names(finding.check for finding in musts if finding.verdict == cell.verdict)
    if cell.verdict == "not_run":
        return None
    if cell.warnings:
        return "warns", _names(finding.check for finding in cell.findings if finding.kind == "should")
    return ("tells", ()) if cell.tells and "drawn" not in cell.dimensions else None


def _names(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _rank(group: Group) -> tuple[int, tuple[str, ...]]:
    return ("FAIL", "UNKNOWN", "warns", "tells").index(group[0]), group[1]


def _print_group(out: Console, heading: str, checks: tuple[str, ...], cells: list[CellReport]) -> None:
    count = f"{len(cells)} cell{'' if len(cells) == 1 else 's'}"
    about = ", ".join(checks) or "recorded, the decision is not judged"
    print_line(out, "")
    print_line(out, Text.assemble((heading, STYLES.get(heading, "bold")), f" {about}: {count}"))
    pairs = [(f"  {check}:", invariant_of(check)) for check in checks if invariant_of(check)]
    if pairs:
        print_labelled(out, *pairs)
    wide, unknown = out.width >= WIDE, heading == "UNKNOWN"
    names = ["cell", *(["class"] if wide else []), "sent", "run", "outcome", *(["because"] if unknown else [])]
    table = sheet(*names, right=("sent", "run"), whole=("cell", "class"))
    for cell in cells[:MAX_ROWS]:
        class_ = [cell.class_] if wide else []
        table.add_row(name_of(cell), *class_, *_facts(cell), *([Text(cell.reason)] if unknown else []))
    print_indented(out, table)
    if len(cells) > MAX_ROWS:
        print_line(out, f"  and {len(cells) - MAX_ROWS} more, in report.json")


def name_of(cell: CellReport) -> str:
    """Its id; for a drawn plan also the faults that it holds."""
    return f"{cell.id} ({cell.fault})" if "drawn" in cell.dimensions else cell.id


def _facts(cell: CellReport) -> tuple[str, str, str]:
    status = "" if cell.status is None else f" {cell.status}"
    varies = ", varies" if cell.varies else ""
    return "?" if cell.attempts is None else str(cell.attempts), str(cell.executions), cell.outcome + status + varies


def print_unreached(out: Console, report: Report) -> None:
    """What was not run: each reason once, with the number of its cells."""
    reasons: dict[str, int] = {}
    for cell in report.cells:
        if cell.verdict == "not_run":
            reasons[cell.reason] = reasons.get(cell.reason, 0) + 1
    for reason, count in reasons.items():
        print_line(out, f"not run: {count} cell{'' if count == 1 else 's'}: {reason}")


def print_histogram(out: Console, report: Report) -> None:
    """Every fault that was planned, with how often it was planned, struck and judged; then what was never judged."""
    planned = {fault: count for fault, count in report.histogram.items() if count.planned}
    print_line(out, "faults, planned/struck/judged:")
    entries = [f"{fault} {count.planned}/{count.struck}/{count.judged}" for fault, count in planned.items()]
    out.print(Padding(Columns(entries, padding=(0, 3)), (0, 0, 0, INDENT)))
    for fault, count in planned.items():
        if not count.judged:
            print_line(out, f"never judged: {fault}: planned {count.planned} times, struck {count.struck}")
