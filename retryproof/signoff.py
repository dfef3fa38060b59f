"""`retryproof signoff`: the same plans against base and candidate, and what changes for whom."""

from typing import Annotated

import typer
from rich.markup import escape

from retryproof.examine import examine_subject
from retryproof.exits import Exit
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
from retryproof.terminal import comparison_table, console
from signoff.comparison import Change, compare
from signoff.items import Choice, Depth


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("signoff")(signoff)


def signoff(
    base: Annotated[str, typer.Argument(metavar="BASE", help="The subject as it is.")],
    candidate: Annotated[str, typer.Argument(metavar="CANDIDATE", help="The subject as it shall be.")],
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
    """Sign off a change of retry policy: the same plans against BASE and CANDIDATE, and the cells that differ.

    regressed (a must that held is broken) blocks: exit code 1. unproven: 3. weaker and still broken only warn
    (still broken blocks with --strict). Nothing blocks: 0. Either side could not run: 4.
    """
    refuse_later_options(jobs=jobs, under=under)
    choice = Choice(depth=depth, only=only, examples=examples, seed=seed)
    terminal = console(quiet=quiet)
    sides = [examine_subject(name, choice, strict=strict, out=out, console=terminal) for name in (base, candidate)]
    comparison = compare(sides[0].report, sides[1].report)
    code = Exit(comparison.exit_code(strict=strict))
    counts = comparison.counts()
    verdict = {Exit.FAIL: "BLOCK", Exit.UNKNOWN: "UNPROVEN"}.get(code, "MAY SHIP")
    terminal.print(
        f"{verdict}: {escape(base)} -> {escape(candidate)}: "
        + ", ".join(f"{counts[change]} {change}" for change in Change)
    )
    if comparison.differing():
        terminal.print(comparison_table(comparison))
    for side in sides:
        terminal.print(f"report of {escape(side.name)}: {side.folder.path / 'report.json'}", soft_wrap=True)
    raise typer.Exit(code)
