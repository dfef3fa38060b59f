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
from retryproof.replay_script import SUBJECT as SCRIPT_SUBJECT
from retryproof.replay_script import replay_script, script_in
from retryproof.revisions import checked_out
from retryproof.sessions import Session, require_subject, verdict_exit, with_subject
from retryproof.terminal import console, print_line
from retryproof.url_options import add_url_options, given_in, say_assumed
from signoff.replay import Replayed, UnreachableError, replay_plan
from suites.futures.script import Script, ScriptError

MAX_TIMES = 10_000
PLAN_SUBJECT = "reference"

_DESCRIPTION = """\
Live through one plan again on a fresh subject, and print what happened on both
sides: what the caller saw, and what the router really did. A script of futures
is replayed in the same way."""

_EPILOG = f"""\
examples:
  retryproof replay retryproof-out/RUN/plans/wait--fin-after--first.json
  retryproof replay PLAN.json --subject nginx --times 50    does it come back?

Plans are written by `retryproof check`, into plans/ of its output folder, and
can be written by hand: docs/plans.md says how. Scripts of futures lie beside
them as futures--*.json; docs/scripts.md says how they are written.

{EXIT_CODES}"""


def _options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("plan", metavar="PLAN.json", type=file_path, help="a plan or a script, as `check` writes them under plans/")
    add(
        "--subject",
        metavar="SUBJECT",
        help=f"whom to replay it on (default: {PLAN_SUBJECT}, and {SCRIPT_SUBJECT} for a script)",
    )
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
    named = options.subject is not None
    with checked_out([options.subject] if named else []) as names:
        options.subject = names[0] if named else None
        return _replay(options)


def _replay(options: argparse.Namespace) -> Exit:
    enter_own_network(options, [options.subject] if options.subject else [])
    out = console(quiet=options.quiet)
    script = _script(options.plan)
    if script is not None:
        return replay_script(script, options, out)
    options.subject = options.subject or PLAN_SUBJECT
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


def _script(path: Path) -> Script | None:
    try:
        return script_in(_read(path))
    except ScriptError as error:
        raise CommandError(f"{str(path)!r}: {error}", Exit.USAGE) from None


def _load(path: Path) -> Plan:
    try:
        return load_plan(_read(path))
    except PlanError as error:
        raise CommandError(f"{str(path)!r}: {error}", Exit.USAGE) from None
    except RecursionError:
        raise CommandError(f"{str(path)!r} is nested too deeply; expected a plan", Exit.USAGE) from None


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            text = file.read(MAX_PLAN_BYTES + 1)
    except OSError as error:
        raise CommandError(
            f"cannot read the plan {str(path)!r}: {error.strerror}; expected a plan as `retryproof check` writes them",
            Exit.USAGE,
        ) from None
    if len(text) > MAX_PLAN_BYTES:
        raise CommandError(f"{str(path)!r}: it is larger than {MAX_PLAN_BYTES} bytes; expected a plan", Exit.USAGE)
    return text


COMMAND = Command(
    name="replay",
    description=_DESCRIPTION,
    epilog=_EPILOG,
    options=_options,
    run=_run,
)
