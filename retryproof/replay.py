"""`retryproof replay`: one plan again, with its timeline."""

from pathlib import Path
from typing import Annotated

import typer

from faults.plan import Plan, PlanError
from faults.plan_json import load_plan
from retryproof.exits import CommandError, Exit
from retryproof.sessions import verdict_exit, with_subject
from retryproof.terminal import console, timeline_table
from signoff.replay import Replayed, replay_plan
from signoff.timeline import timeline


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("replay")(replay)


def replay(
    plan: Annotated[Path, typer.Argument(help="A plan, as `check` writes them under plans/.")],
    subject: Annotated[str, typer.Option(metavar="SUBJECT", help="Whom to replay it on.")] = "reference",
    times: Annotated[int, typer.Option(min=1, metavar="N", help="How often; the worst verdict counts.")] = 1,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
) -> None:
    """Live through one plan again on a fresh subject, and print what happened on both sides."""
    out = console(quiet=quiet)
    loaded = _load(plan)
    replays = with_subject(subject, lambda setup: _all(setup, loaded, times))
    for replayed in replays:
        out.print(timeline_table(timeline(replayed.run)))
        for line in replayed.lines():
            out.print(line)
    raise typer.Exit(verdict_exit([replayed.verdict for replayed in replays]))
