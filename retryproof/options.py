"""Options that commands share, each with the text that teaches it."""

from pathlib import Path
from typing import Annotated

import typer

from retryproof.exits import CommandError, Exit
from signoff.items import Depth

DepthOption = Annotated[
    Depth,
    typer.Option(help="core: about 40 cells; full: every cell and 200 drawn plans; deep: every cell and 2,000."),
]
OnlyOption = Annotated[
    str | None,
    typer.Option(
        metavar="GLOB",
        help="Only the cells whose id matches, e.g. 'status/503*' or '*/reused'. No plans are drawn unless it "
        "matches drawn/0000 or --examples is given.",
    ),
]
ExamplesOption = Annotated[
    int | None, typer.Option(min=0, metavar="N", help="How many plans to draw, instead of what --depth says.")
]
SeedOption = Annotated[
    int, typer.Option(min=0, metavar="N", help="The seed of the drawn plans: same seed, same plans.")
]
StrictOption = Annotated[
    bool, typer.Option("--strict", help="A cell that could not be reached counts as UNKNOWN (exit code 3).")
]
OutOption = Annotated[
    Path, typer.Option(metavar="DIR", help="Where reports go; each run makes a folder of its own in it.")
]
QuietOption = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]
JobsOption = Annotated[int | None, typer.Option(metavar="N", help="Not in this version.")]
UnderOption = Annotated[str | None, typer.Option(metavar="TOXIC", help="Not in this version.")]
DEFAULT_OUT = Path("retryproof-out")


def refuse_later_options(*, jobs: int | None, under: str | None) -> None:
    """Raise CommandError (exit code 2) for an option that this version does not have yet."""
    for name, value in (("--jobs", jobs), ("--under", under)):
        if value is not None:
            raise CommandError(
                f"{name} {value!r}: this version does not have it yet; leave it out "
                "(fresh subjects already run several at a time)",
                Exit.USAGE,
            )
