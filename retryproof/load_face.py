"""What a person sees of a load: what the machine allows, one line that lives while it goes on, and the tables after."""

from collections.abc import Callable

from rich.console import Console
from rich.status import Status
from rich.table import Table
from rich.text import Text

from retryproof.terminal import STYLES, print_indented, print_labelled, print_line, sheet
from signoff.load_report import LoadFinding, LoadReport, Step
from suites.load.asked import Load
from suites.load.found import Sample
from suites.load.limits import Layout, Limits

_KIB = 1024
_COUNTED = {
    "connects": "connections made",
    "refused": "refused",
    "broken": "broken",
    "polls": "polls",
    "abandoned": "of them abandoned",
    "resent": "submits sent again",
}
_RATE_OVER_NS = 2_000_000_000


class LiveLine:
    """In flight, done, failed and the rate; nothing where there is no terminal."""

    def __init__(self, out: Console) -> None:
        self._status = Status("", console=out) if out.is_terminal and not out.quiet else None
        self._recent: list[Sample] = []

    def __call__(self, sample: Sample) -> None:
        """One more look."""
        if self._status is None:
            return
        if self._recent and sample.done < self._recent[-1].done:
            self._recent.clear()  # another load
        self._recent = [one for one in self._recent if sample.at_ns - one.at_ns <= _RATE_OVER_NS]
        self._recent.append(sample)
        self._status.update(live_words(self._recent))
        self._status.start()

    def stop(self) -> None:
        """It is gone, before tables come."""
        if self._status is not None:
            self._status.stop()


def live_words(recent: list[Sample]) -> str:
    """What the last of these looks shows; the rate is that since the first."""
    first, last = recent[0], recent[-1]
    seconds = (last.at_ns - first.at_ns) / 1e9
    rate = (last.done - first.done) / seconds if seconds else 0.0
    return f"in flight {last.in_flight:,}  done {last.done:,}  failed {last.failed:,}  {rate:,.0f}/s"


def print_plan(out: Console) -> Callable[[Limits, Load, Layout], None]:
    """What prints the limits once, and before each load what is chosen."""
    said: list[str] = []

    def plan(limits: Limits, load: Load, layout: Layout) -> None:
        if not said:
            said.append(limits.words())
            print_line(out, f"this machine: {limits.words()}")
        print_line(out, f"{load.in_flight:,} in flight: {layout.words()}")

    return plan


def print_report(out: Console, report: LoadReport) -> None:
    """Verdict first, then one row a load, then what failed and what was broken."""
    print_line(out, "")
    name = f"{report.subject.name} {report.subject.version}".rstrip()
    verdict = "no verdict" if report.partial else report.verdict
    says = f" {', '.join((name, *report.asked))}"
    print_line(out, Text.assemble((verdict, STYLES.get(verdict, "yellow")), says))
    _print_rows(out, report)
    for step in report.steps:
        _print_step(out, step)


def _print_rows(out: Console, report: LoadReport) -> None:
    """Two tables, since one would be wider than a terminal."""
    costs = ("in flight", "operations", "failed", "per s", "CPU ms", "KiB", "sockets")
    latencies = ("in flight", "p50 ms", "p90 ms", "p99 ms", "max ms")
    cost, latency = sheet(out, *costs, right=costs), sheet(out, *latencies, right=latencies)
    for step in report.steps:
        held, took = step.resident_bytes_per_operation, step.latency_ms
        cost.add_row(
            f"{step.in_flight:,}",
            f"{step.operations:,}",
            f"{step.operations - step.succeeded:,}",
            f"{step.per_second:,.0f}",
            _number(step.cpu_ms_per_operation, 3),
            _number(None if held is None else held / _KIB, 1),
            "-" if step.sockets is None else f"{step.sockets:,}",
        )
        latency.add_row(f"{step.in_flight:,}", *(_number(one) for one in (took.p50, took.p90, took.p99, took.max)))
        _add_stairs(cost, step)
    print_indented(out, cost)
    print_line(out, "  CPU ms and KiB: of the subject's processes, for each operation, and for each in flight")
    if any(step.sockets is None for step in report.steps):
        print_line(out, "  Not measured: nobody is seen to listen on this machine where the subject is called")
    print_line(out, "")
    print_indented(out, latency)


def _add_stairs(cost: Table, step: Step) -> None:
    for stair in step.stairs:
        held = stair.resident_bytes_per_operation
        cost.add_row(
            f"of it {stair.in_flight:,}",
            f"{stair.operations:,}",
            "",
            f"{stair.per_second:,.0f}",
            _number(stair.cpu_ms_per_operation, 3),
            _number(None if held is None else held / _KIB, 1),
            "",
        )


def _print_step(out: Console, step: Step) -> None:
    counts = step.counts
    print_line(out, "")
    print_line(out, f"{step.in_flight:,} in flight")
    print_labelled(
        out,
        *(
            (("  faults", ", ".join(f"{count:,} {fault}" for fault, count in step.strikes.items())),)
            if step.strikes
            else ()
        ),
        ("  ledgers", f"{step.attempts:,} attempts, {step.executions:,} executions, {step.struck:,} operations struck"),
        (
            "  CPU ms",
            f"callers {_number(step.caller_cpu_ms_per_operation, 3)}, "
            f"routers {_number(step.router_cpu_ms_per_operation, 3)}",
        ),
        ("  callers", ", ".join(f"{counts.get(name, 0):,} {words}" for name, words in _COUNTED.items())),
        *(("  failed", f"{count:,} {kind}") for kind, count in step.failures.items()),
        *((f"  {one.verdict}", f"{one.check}: {one.says}") for one in step.findings if _is_shown(one)),
    )


def _is_shown(finding: LoadFinding) -> bool:
    """What does not hold; and of a soak what was measured."""
    return finding.verdict != "PASS" or finding.check.startswith("flat")


def _number(value: float | None, digits: int = 0) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"
