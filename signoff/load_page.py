"""report.html of a load: its table needs no script, its plots are drawn in the browser from the data in the page."""

from collections.abc import Iterator
from html import escape
from string import Template
from typing import Any

from signoff.html import STYLES, embedded, part
from signoff.load_report import LoadReport, Stair, Step

_COLUMNS = (
    "in flight",
    "operations",
    "failed",
    "a second",
    "p50 ms",
    "p90 ms",
    "p99 ms",
    "max ms",
    "CPU ms",
    "KiB",
    "sockets",
    "verdict",
)
_MIB = 1024**2


def html_of_load(report: LoadReport) -> bytes:
    """The page."""
    subject = f"{report.subject.name} {report.subject.version}".rstrip()
    known = {
        "title": escape(f"{report.verdict}: load on {subject}"),
        "verdict": escape(report.verdict),
        "verdict_class": STYLES[report.verdict],
        "subject": escape(f"load on {subject}"),
        "sub": escape("; ".join(report.asked)),
        "partial": _partial(report),
        "matter": "".join(f"<li>{escape(line)}</li>" for line in _matter(report)),
        "machine": escape(_machine(report)),
        "table": _table(report),
        "footer": escape(f"{report.tool}. All numbers are in report.json beside this page."),
        "style": part("page.css") + part("load.css"),
        "script": part("parts.js") + part("load.js"),
        "data": embedded({"steps": [_step(n, step) for n, step in enumerate(report.steps)]}),
    }
    return Template(part("load.html")).substitute(known).encode()


def _partial(report: LoadReport) -> str:
    if not report.partial:
        return ""
    return f'<p class="partial">Not whole: {escape(report.partial)}. No verdict is claimed.</p>'


def _matter(report: LoadReport) -> Iterator[str]:
    """What is not as it should be."""
    for step in report.steps:
        for finding in step.findings:
            if finding.verdict != "PASS":
                yield f"{step.in_flight:,} in flight: {finding.verdict} {finding.check}: {finding.says}"
        for kind, count in step.failures.items():
            yield f"{step.in_flight:,} in flight: {count:,} operations failed: {kind}"


def _machine(report: LoadReport) -> str:
    machine = report.machine
    return (
        f"This machine: {machine.cores} cores, {machine.memory_bytes / 1024**3:.1f} GiB free, {machine.files:,} "
        f"files a process, {machine.backlog:,} connections and {machine.packets:,} packets may wait, "
        f"{machine.ports:,} ports a source address."
    )


def _table(report: LoadReport) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in _COLUMNS)
    rows = "".join(f"<tr>{''.join(cells)}</tr>" for step in report.steps for cells in _rows(step))
    return f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody>"


def _rows(step: Step) -> Iterator[Iterator[str]]:
    """Its own, and below it those of the stairs of a ramp."""
    yield _cells(step)
    for stair in step.stairs:
        yield _cells_of_stair(stair)


def _cells_of_stair(stair: Stair) -> Iterator[str]:
    """What is not known of a stair alone is left out."""
    held = stair.resident_bytes_per_operation
    yield f'<th scope="row">of it {stair.in_flight:,}</th>'
    known = {
        "operations": f"{stair.operations:,}",
        "a second": f"{stair.per_second:,.0f}",
        "CPU ms": "-" if stair.cpu_ms_per_operation is None else f"{stair.cpu_ms_per_operation:,.3f}",
        "KiB": "-" if held is None else f"{held / 1024:,.1f}",
    }
    for column in _COLUMNS[1:]:
        yield f'<td class="n">{known.get(column, "")}</td>'


def _cells(step: Step) -> Iterator[str]:
    latency = step.latency_ms
    held = step.resident_bytes_per_operation
    yield f'<th scope="row">{step.in_flight:,}</th>'
    for value, digits in (
        (step.operations, 0),
        (step.operations - step.succeeded, 0),
        (step.per_second, 0),
        *((value, 0) for value in (latency.p50, latency.p90, latency.p99, latency.max)),
        (step.cpu_ms_per_operation, 3),
        (None if held is None else held / 1024, 1),
        (step.sockets, 0),
    ):
        yield f'<td class="n">{"-" if value is None else f"{value:,.{digits}f}"}</td>'
    yield f'<td><span class="tag {STYLES[step.verdict]}">{escape(step.verdict)}</span></td>'


def _cost(one: Step | Stair) -> dict[str, float | None]:
    """What an operation took with so many in flight."""
    held = one.resident_bytes_per_operation
    return {
        "in_flight": one.in_flight,
        "cpu_ms": one.cpu_ms_per_operation,
        "caller_cpu_ms": one.caller_cpu_ms_per_operation,
        "router_cpu_ms": one.router_cpu_ms_per_operation,
        "kib": None if held is None else held / 1024,
    }


def _step(n: int, step: Step) -> dict[str, Any]:
    moments = [
        (
            round(m.at_s, 2),
            m.in_flight,
            m.done,
            m.failed,
            round(m.cpu_s, 2),
            round(m.resident_bytes / _MIB, 2),
            m.sockets,
        )
        for m in step.moments
    ]
    return {
        "n": n,
        "in_flight": step.in_flight,
        "costs": [_cost(one) for one in step.stairs] or [_cost(step)],
        "moments": moments,
        "rates": list(rates_of(step)),
        "findings": [(one.check, one.verdict, one.says, STYLES[one.verdict]) for one in step.findings],
    }


def rates_of(step: Step) -> Iterator[tuple[float, float]]:
    """Completions a second between each two looks."""
    for before, after in zip(step.moments, step.moments[1:], strict=False):
        seconds = after.at_s - before.at_s
        if seconds > 0:
            yield round(after.at_s, 2), round((after.done - before.done) / seconds, 2)
