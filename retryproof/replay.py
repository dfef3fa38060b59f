"""`retryproof replay`: one plan again, with its timeline."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from faults.plan import Plan, PlanError
from faults.plan_json import load_plan
from retryproof.exits import CommandError, Exit
from retryproof.sessions import Session, verdict_exit, with_subject
from retryproof.terminal import console, timeline_table
from signoff.replay import Replayed, UnreachableError, replay_plan
from signoff.timeline import timeline


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("replay")(replay)


def replay(
    plan: Annotated[Path, typer.Argument(metavar="PLAN.json", help="A plan, as `check` writes them under plans/.")],
    subject: Annotated[str, typer.Option(metavar="SUBJECT", help="Whom to replay it on.")] = "reference",
    times: Annotated[int, typer.Option(min=1, metavar="N", help="How often; the worst verdict counts.")] = 1,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
) -> None:
    """Live through one plan again on a fresh subject, and print what happened on both sides.

    The exit code is that of the verdict: 0 PASS, 1 FAIL, 3 UNKNOWN.
    """
    out = console(quiet=quiet)
    loaded = _load(plan)

    async def work(session: Session) -> list[Replayed]:
        return await replay_plan(loaded, session.driver, session.machine, times=times)

    try:
        replays = with_subject(subject, work)
    except UnreachableError as error:
        raise CommandError(str(error), Exit.UNKNOWN) from None
    out.print(timeline_table(timeline(replays[-1].run)))
    for line in replays[-1].lines():
        out.print(escape(line))
    if times > 1:
        names = [replayed.verdict.name for replayed in replays]
        out.print(f"{times} replays: " + ", ".join(f"{names.count(name)} {name}" for name in sorted(set(names))))
    raise typer.Exit(verdict_exit(replayed.verdict for replayed in replays))


def _load(path: Path) -> Plan:
    try:
        return load_plan(path.read_bytes())
    except OSError as error:
        raise CommandError(f"cannot read the plan {str(path)!r}: {error.strerror}", Exit.USAGE) from None
    except PlanError as error:
        raise CommandError(f"{str(path)!r}: {error}", Exit.USAGE) from None
