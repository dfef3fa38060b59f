"""`retryproof replay`: one plan again, with its timeline."""

import argparse
from pathlib import Path

from rich.text import Text

from faults.plan import Plan, PlanError
from faults.plan_json import load_plan
from retryproof.command import EXIT_CODES, Command, file_path, whole_number
from retryproof.exits import CommandError, Exit
from retryproof.failures import print_timeline
from retryproof.options import add_own_network, enter_own_network
from retryproof.sessions import Session, require_subject, verdict_exit, with_subject
from retryproof.terminal import console, print_line
from retryproof.url_options import add_url_options, given_in, say_assumed
from signoff.replay import Replayed, UnreachableError, replay_plan

MAX_TIMES = 10_000

_DESCRIPTION = """\
Live through one plan again on a fresh subject, and print what happened on both
sides: what the caller saw, and what the router really did."""

_EPILOG = f"""\
examples:
  retryproof replay retryproof-out/RUN/plans/wait--fin-after--first.json
  retryproof replay PLAN.json --subject nginx --times 50    does it come back?

Plans are written by `retryproof check`, into plans/ of its output folder, and
can be written by hand: docs/plans.md says how.

{EXIT_CODES}"""


def _options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("plan", metavar="PLAN.json", type=file_path, help="a plan, as `check` writes them under plans/")
    add("--subject", default="reference", metavar="SUBJECT", help="whom to replay it on (default: reference)")
    add_url_options(parser)
    add(
        "--times",
        type=whole_number(1, MAX_TIMES),
        default=1,
        metavar="N",
        help="how often; the worst verdict counts (default 1)",
    )
    add(
        "--twin",
        metavar="PLAN.json",
        type=file_path,
        help="the same plan with the twin fault: both are replayed, and must get the same decision",
    )
    add_own_network(parser)
    add("--quiet", action="store_true", help="print nothing but errors")


def _run(options: argparse.Namespace) -> Exit:
    enter_own_network(options)
    out = console(quiet=options.quiet)
    plan = _load(options.plan)
    twin = None if options.twin is None else _load(options.twin)
    if twin is not None and len(twin.operations) != len(plan.operations):
        raise CommandError(
            f"--twin {str(options.twin)!r} has {len(twin.operations)} operations; "
            f"expected {len(plan.operations)}: the same plan with the twin fault",
            Exit.USAGE,
        )

    given = given_in(options, [options.subject])
    require_subject(options.subject, given)
    say_assumed([options.subject], given)

    async def work(session: Session) -> list[Replayed]:
        return await replay_plan(plan, session.driver, session.machine, times=options.times, twin=twin)

    try:
        toxiproxy = any(one.needs_toxiproxy for one in (plan, twin) if one is not None)
        replays = with_subject(options.subject, work, given, console=out, toxiproxy=toxiproxy)
    except UnreachableError as error:
        raise CommandError(str(error), Exit.UNKNOWN) from None
    shown = max(replays, key=lambda replayed: replayed.verdict)
    print_timeline(out, shown.run, after=True)
    for line in shown.lines():
        out.print(Text(line))
    if len(replays) > 1:
        names = [replayed.verdict.name for replayed in replays]
        counts = ", ".join(f"{names.count(name)} {name}" for name in sorted(set(names)))
        print_line(out, f"{len(replays)} replays: {counts}")
    return verdict_exit(replayed.verdict for replayed in replays)


MAX_PLAN_BYTES = 1_000_000  # a hundred operations with all their faults take a few thousand


def _load(path: Path) -> Plan:
    try:
        with path.open("rb") as file:
            text = file.read(MAX_PLAN_BYTES + 1)
        if len(text) > MAX_PLAN_BYTES:
            raise PlanError(f"it is larger than {MAX_PLAN_BYTES} bytes; expected a plan")
        return load_plan(text)
    except OSError as error:
        raise CommandError(
            f"cannot read the plan {str(path)!r}: {error.strerror}; expected a plan as `retryproof check` writes them",
            Exit.USAGE,
        ) from None
    except PlanError as error:
        raise CommandError(f"{str(path)!r}: {error}", Exit.USAGE) from None
    except RecursionError:
        raise CommandError(f"{str(path)!r} is nested too deeply; expected a plan", Exit.USAGE) from None


COMMAND = Command(
    name="replay",
    description=_DESCRIPTION,
    epilog=_EPILOG,
    options=_options,
    run=_run,
)
