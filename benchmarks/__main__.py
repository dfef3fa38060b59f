"""`python -m benchmarks [ROW ...]`: everything that is measured, or these rows alone, and benchmarks/results.md of it.

Each row is a command of its own and prints what it measured, as ratios of things that were measured in turn. A row
whose component is missing says what to install, and the others go on. results.md is written after each row, and keeps
those that are not measured again as they were; docs/performance.svg is drawn of it.

Exit codes: 0 every ratio as expected, 1 one is not, or a row broke; 2 no such row; 4 a component of a row is missing.
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks import plots
from benchmarks.measured import Measured, measured_of
from benchmarks.peers import ROOT
from benchmarks.results_page import kept_in, write
from benchmarks.rows import ROWS, Row, row_named

RESULTS = plots.PAGE
_LONGEST_S = 900  # a row that takes longer has hung


def main(argv: list[str] | None = None) -> int:
    """Run and write; see the module for the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.partition("\n")[0])
    parser.add_argument("rows", metavar="ROW", nargs="*", help=f"one of {', '.join(row.name for row in ROWS)}")
    parser.add_argument(
        "--out", metavar="PAGE.md", type=Path, default=RESULTS, help="what is written (default: benchmarks/results.md)"
    )
    options = parser.parse_args(argv)
    try:
        rows = [row_named(name) for name in options.rows] or list(ROWS)
    except ValueError as error:
        parser.error(str(error))
    began = time.perf_counter()
    mine = _all(rows, options.out)
    if options.out == RESULTS and any(row.name == plots.ROW for row in mine):
        plots.main()
    print(f"{len(mine)} rows in {time.perf_counter() - began:.0f} s: {options.out}", file=sys.stderr)
    if any(row.broken or not all(ratio.met for ratio in row.ratios) for row in mine):
        return 1
    return 4 if any(row.missing for row in mine) else 0


def _all(rows: list[Row], out: Path) -> list[Measured]:
    console = Console(stderr=True)
    mine = []
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as progress:
        whole = progress.add_task("", total=sum(row.expected_s for row in rows))
        for row in rows:
            progress.update(whole, description=row.name)
            measured = _one(row)
            mine.append(measured)
            for line in measured.words:
                progress.console.print(line, markup=False, highlight=False, soft_wrap=True)
            write(out, {**kept_in(out), row.name: measured})
            progress.advance(whole, row.expected_s)
    return mine


def _one(row: Row) -> Measured:
    began = time.perf_counter()
    command = [sys.executable, "-m", *row.words]
    # In a session of its own: what it has started ends with it, however it ends.
    ran = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    late = ""
    try:
        output, errors = ran.communicate(timeout=_LONGEST_S)
    except subprocess.TimeoutExpired:
        _end(ran)
        output, errors = ran.communicate()
        late = f"\nit took more than {_LONGEST_S} s"
    finally:
        _end(ran)
    return measured_of(row, ran.returncode, output, errors + late, time.perf_counter() - began)


def _end(ran: "subprocess.Popen[str]") -> None:
    """It, and what it has started."""
    with suppress(ProcessLookupError):
        os.killpg(ran.pid, signal.SIGTERM)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that a row ends with it
    sys.exit(main())
