"""benchmarks/results.md: every row as a line of a table, what it was measured on, and all that it printed.

Beside it lies the same as data (results.json), of which a later run of one row keeps the others.
"""

import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import msgspec

from benchmarks.measured import Measured
from benchmarks.rows import ROWS
from suites.load.machine import limits_here

_PACKAGES = ("aiohttp", "httpx", "httptools", "msgspec", "numpy", "pysimdjson", "starlette", "uvicorn", "uvloop")
_HEAD = """\
# What is measured

Made by `python -m benchmarks`; one row again: `python -m benchmarks ROW`. How to read it: [performance.md]\
(../docs/performance.md). Ratios are of things that were measured in turn in one run: the median, and the lowest and
highest of the repeats.
"""


def page_of(measured: Mapping[str, Measured]) -> str:
    """The whole page."""
    rows = [measured[row.name] for row in ROWS if row.name in measured]
    together = f"All rows together took {sum(row.seconds for row in rows):.0f} s.\n"
    return "\n".join([_HEAD, _machine(), together, *_table(rows), "", *(_details(row) for row in rows)])


def write(page: Path, measured: Mapping[str, Measured]) -> None:
    """The page, and the data beside it."""
    page.write_text(page_of(measured))
    data = msgspec.json.format(msgspec.json.encode(dict(measured)), indent=1)
    page.with_suffix(".json").write_bytes(data + b"\n")


def kept_in(page: Path) -> dict[str, Measured]:
    """What an earlier run has written beside that page; nothing where it has not."""
    try:
        kept = msgspec.json.decode(page.with_suffix(".json").read_bytes(), type=dict[str, Measured])
    except FileNotFoundError:
        return {}
    known = {row.name for row in ROWS}
    return {name: row for name, row in kept.items() if name in known}


def _machine() -> str:
    limits = limits_here()
    memory = f"{limits.memory_bytes / 2**30:.0f} GiB of memory free"
    versions = ", ".join(f"{name} {_version(name)}" for name in ("retryproof", *_PACKAGES))
    return (
        f"{limits.cores} cores, {memory}, {limits.files:,} files a process, backlog {limits.backlog:,}, "
        f"{limits.ports:,} ports a source address; Linux {platform.release()}, {platform.python_implementation()} "
        f"{platform.python_version()}; {versions}; of what is measured beside, the rows say it themselves.\n"
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _table(rows: list[Measured]) -> list[str]:
    lines = ["| row | ratio | measured | expected | |", "|---|---|---|---|---|"]
    for row in rows:
        if row.missing or row.broken:
            lines.append(f"| `{row.name}` | {_cell(row.missing or row.broken)} | | | not measured |")
        for ratio in row.ratios:
            expected = f"at {ratio.bound} {ratio.limit:g}" if ratio.bound else "-"
            measured = f"{ratio.median:.3g} ({ratio.low:.3g} to {ratio.high:.3g}; {ratio.repeats})"
            met = ("yes" if ratio.met else "**no**") if ratio.bound else ""
            lines.append(f"| `{row.name}` | {_cell(ratio.says)} | {measured} | {expected} | {met} |")
    return lines


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _details(row: Measured) -> str:
    bottleneck = f"Bottleneck: {row.bottleneck}.\n\n" if row.bottleneck else ""
    load = "" if row.load is None else f", load of the machine {row.load:g}"
    return (
        f"## `{row.name}`\n\n{row.says} ({row.seconds:.0f} s{load}). {bottleneck}```text\n{row.output.strip()}\n```\n"
    )
