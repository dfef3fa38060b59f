"""The cells that need a reader, grouped by what they have in common; and what the verdict rests on."""

from collections import Counter
from collections.abc import Iterable

from rich.columns import Columns
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from retryproof.terminal import INDENT, STYLES, print_indented, print_labelled, print_line, sheet
from signoff.cell_words import outcome_of
from signoff.report import CellReport, Report
from suites.judge import invariant_of

MAX_ROWS = 30  # cells of one group; the rest is in report.json
KNOWN = "KNOWN TO FAIL"
MAX_DRAWN = 5  # drawn plans of one group: more of the same kind teach nothing
WIDE = 90  # columns from which on there is room for the class

Group = tuple[str, tuple[str, ...]]  # heading, the checks that it is about


def print_headline(out: Console, report: Report) -> None:
    """The verdict, in one line."""
    counts = Counter(report.counts)
    line = Text.assemble(
        (report.verdict, STYLES[report.verdict]),
        f" {report.subject.name} ({report.subject.version or 'version unknown'}, promises {report.subject.promises}): "
        f"{counts['PASS']} passed, {counts['FAIL']} failed{_known(report)}, {counts['UNKNOWN']} unknown, "
        f"{counts['not_run']} not run, {counts['warnings']} warnings; "
        f"seed {report.seed}, {report.runs_per_second:g} runs/s",
    )
    print_line(out, line)


def _known(report: Report) -> str:
    """Of the failures."""
    return "" if report.baseline is None else f" ({report.baseline.known} known)"


def print_baseline(out: Console, report: Report) -> None:
    """What the failures were held against, and what no longer fails."""
    if report.baseline is None:
        return
    baseline = report.baseline
    print_line(out, f"baseline: {baseline.report}, of {baseline.subject}, by {baseline.tool}")
    for id_ in baseline.mended[:MAX_ROWS]:
        print_line(out, f"  passes now: {id_}")
    if len(baseline.mended) > MAX_ROWS:
        print_line(out, f"  and {len(baseline.mended) - MAX_ROWS} more, in report.json")


def print_groups(out: Console, report: Report) -> None:
    """Every cell that did not pass, that warns or that only tells, with others of its kind; the checks first."""
    groups: dict[Group, list[CellReport]] = {}
    for cell in report.cells:
        if (group := _group(cell)) is not None:
            groups.setdefault(group, []).append(cell)
    for group in sorted(groups, key=_rank):
        _print_group(out, *group, groups[group])
    named = dict.fromkeys(check for _, checks in sorted(groups, key=_rank) for check in checks)
    if any(map(invariant_of, named)):
        print_line(out, "")
        print_labelled(out, *((check, invariant_of(check)) for check in named if invariant_of(check)))


def _group(cell: CellReport) -> Group | None:
    musts = [finding for finding in cell.findings if finding.kind == "must"]
    if cell.verdict in ("FAIL", "UNKNOWN"):
        checks = _names(finding.check for finding in musts if finding.verdict == cell.verdict)
        return KNOWN if cell.known else cell.verdict, checks
    if cell.verdict == "not_run":
        return None
    if cell.warnings:
        return "warns", _names(finding.check for finding in cell.findings if finding.kind == "should")
    return ("tells", ()) if cell.tells and not _is_drawn(cell) else None


def _names(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _rank(group: Group) -> tuple[int, tuple[str, ...]]:
    return ("FAIL", "UNKNOWN", "warns", KNOWN, "tells").index(group[0]), group[1]


def _print_group(out: Console, heading: str, checks: tuple[str, ...], cells: list[CellReport]) -> None:
    count = f"{len(cells)} cell{'' if len(cells) == 1 else 's'}"
    about = ", ".join(checks) or (
        "recorded, the decision is not judged" if heading == "tells" else "nothing was proved"
    )
    print_line(out, "")
    print_line(out, Text.assemble((heading, STYLES.get(heading, "bold")), f" {about}: {count}"))
    of_catalogue = [cell for cell in cells if not _is_drawn(cell)][:MAX_ROWS]
    drawn = [cell for cell in cells if _is_drawn(cell)][:MAX_DRAWN]
    wide = out.width >= WIDE
    last = "because" if heading == "UNKNOWN" else "faults" if drawn and wide else ""
    names = ["cell", *(["class"] if wide else []), "sent", "run", "outcome", *([last] if last else [])]
    table = sheet(out, *names, right=("sent", "run"), fold=("because", "faults"))
    for cell in (*of_catalogue, *drawn):
        words = {"because": cell.reason, "faults": cell.fault if _is_drawn(cell) else ""}
        table.add_row(cell.id, *([cell.class_] if wide else []), *_facts(cell), *([Text(words[last])] if last else []))
    print_indented(out, table)
    if len(cells) > len(of_catalogue) + len(drawn):
        print_line(out, f"  and {len(cells) - len(of_catalogue) - len(drawn)} more, in report.json")


def _is_drawn(cell: CellReport) -> bool:
    return "drawn" in cell.dimensions


def _facts(cell: CellReport) -> tuple[str, str, str]:
    sent = "?" if cell.attempts is None else str(cell.attempts)
    return sent, str(cell.executions), f"{outcome_of(cell)}{', varies' if cell.varies else ''}"


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
