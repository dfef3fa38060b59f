"""`retryproof check`: the catalogue and drawn plans against a subject."""

from collections.abc import Iterable
from typing import Annotated

import typer
from rich.console import Console

from retryproof.examine import Examined, examine_subject
from retryproof.exits import CommandError, Exit, joined
from retryproof.failures import print_failures
from retryproof.options import (
    DEFAULT_OUT,
    DepthOption,
    ExamplesOption,
    JobsOption,
    OnlyOption,
    OutOption,
    QuietOption,
    SeedOption,
    StrictOption,
    UnderOption,
    refuse_later_options,
)
from retryproof.terminal import STYLES, cells_table, console, histogram_table
from signoff.items import Choice, Depth
from signoff.report import CellReport, Report

_EXITS = {"PASS": Exit.PASS, "FAIL": Exit.FAIL, "UNKNOWN": Exit.UNKNOWN}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("check")(check)


def check(
    subject: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SUBJECT]...",
            help="reference[:POLICY], reference-server[:POLICY], nginx, nginx:retry-non-idempotent, or a TOML file.",
        ),
    ] = None,
    depth: DepthOption = Depth.FULL,
    only: OnlyOption = None,
    examples: ExamplesOption = None,
    seed: SeedOption = 0,
    strict: StrictOption = False,
    out: OutOption = DEFAULT_OUT,
    quiet: QuietOption = False,
    jobs: JobsOption = None,
    under: UnderOption = None,
) -> None:
    """Examine SUBJECT: does it retry only what is provably safe, never duplicate accepted work, never report
    garbage as success?

    Without SUBJECT the reference forwarder is examined on the embedded router. Exit code 0: every must holds; 1: one
    is broken; 3: nothing was proved; 4: it could not run. Warnings (a safe retry that was not made) change no code.
    """
    refuse_later_options(jobs=jobs, under=under)
    choice = Choice(depth=depth, only=only, examples=examples, seed=seed)
    terminal = console(quiet=quiet)
    codes: list[Exit] = []
    for name in subject or ["reference"]:
        try:
            examined = examine_subject(name, choice, strict=strict, out=out, console=terminal)
        except CommandError as error:
            if error.code is Exit.USAGE or len(subject or []) < 2:
                raise
            typer.echo(f"retryproof: {error}", err=True)  # the other subjects are still examined
            codes.append(error.code)
            continue
        print_examined(terminal, examined)
        codes.append(_EXITS[examined.report.verdict])
    raise typer.Exit(joined(codes))


def print_examined(out: Console, examined: Examined) -> None:
    """Verdict first, then what needs a reader, then how much the verdict rests on."""
    report = examined.report
    counts = report.counts
    out.print(
        f"[{STYLES[report.verdict]}]{report.verdict}[/] {report.subject.name} "
        f"({report.subject.version or 'version unknown'}, promises {report.subject.promises}): "
        f"{counts['PASS']} passed, {counts['FAIL']} failed, {counts['UNKNOWN']} unknown, "
        f"{counts['not_run']} not run, {counts['warnings']} warnings; "
        f"seed {report.seed}, {report.examples_per_second:g} plans/s"
    )
    noteworthy = [cell for cell in report.cells if _is_noteworthy(cell)]
    if noteworthy:
        out.print(cells_table(noteworthy, "cells that did not pass, that warn, or that only tell"))
    _print_unreached(out, report)
    out.print(histogram_table(report))
    print_failures(out, examined)
    out.print(f"report: {examined.folder.path / 'report.json'}")


def _is_noteworthy(cell: CellReport) -> bool:
    tells = cell.tells and cell.verdict != "not_run" and "drawn" not in cell.dimensions
    return cell.verdict in ("FAIL", "UNKNOWN") or bool(cell.warnings) or tells


def _print_unreached(out: Console, report: Report) -> None:
    """Each reason once, with the number of cells."""
    reasons: dict[str, int] = {}
    for cell in report.cells:
        if cell.verdict == "not_run":
            reasons[cell.reason] = reasons.get(cell.reason, 0) + 1
    for line in _lines(reasons.items()):
        out.print(line)


def _lines(reasons: Iterable[tuple[str, int]]) -> list[str]:
    return [f"not run: {count} cells: {reason}" for reason, count in reasons]
