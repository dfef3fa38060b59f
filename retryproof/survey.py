"""`retryproof survey`: who retries what, of all subjects that can run here."""

import argparse
from pathlib import Path

from faults.coverage import Depth
from retryproof.beside import end_with_parent
from retryproof.campaign import Wanted, survey
from retryproof.command import Command, folder_path, whole_number
from retryproof.exits import CommandError, Exit
from retryproof.options import DEFAULT_OUT, MAX_LANES, ExamineOptions, add_own_network, enter_own_network
from retryproof.sessions import require_subject
from retryproof.survey_faces import draw
from retryproof.terminal import console, print_line
from retryproof.where_options import add_where, require_where
from signoff.items import Choice
from signoff.published import FOLDER
from suites.registry import REFERENCE, built_in_subjects

LIMIT_S = 600
CHAINS = (
    "nginx:read-timeout-10s+litellm-proxy",
    "openai:read-timeout-5s+litellm-proxy",
    "openai+nginx:retry-non-idempotent",
    "skyrl+vllm-router",
    "skyrl+vllm-router:disable-circuit-breaker",
    "caddy:retry-post-buffered+haproxy:retry-all",
)  # one in front of another, as people put them; how both multiply
_OURS = (REFERENCE, f"{REFERENCE}-server")  # the world's software is surveyed
_DESCRIPTION = """\
Examine every forwarder and every client that can run here, and publish what was
seen: one file for each configuration in results/, and two pages drawn from all
of them, docs/who-retries-what.md and docs/who-retries-what.html. A result of
this version, this configuration and these plans that is there is not made
again: what was interrupted goes on where it was."""

_JOBS = (
    "examine N configurations at a time, each in a process of its own (default 1); a single one, and with --ray or "
    "--compare each, in N worker processes"
)
_EPILOG = """\
examples:
  retryproof survey                          all that can run here
  retryproof survey --jobs 2                 two of them at a time
  retryproof survey nginx --compare          is it still as it was published?
  retryproof survey --draw                   the pages again, from results/

exit codes:
  0    surveyed, whatever was seen; of --compare: nothing differs
  1    of --compare: a cell differs from what was published of this version
  2    wrong usage or bad input
  3    of --compare: nothing could be compared
  4    a subject could not run, or one that was asked for is not installed here;
       the others were surveyed
  130  interrupted; the results so far are written, and the next call goes on"""


def _options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "subjects",
        metavar="SUBJECT",
        nargs="*",
        help="only these (default: every built-in one but the reference, and some chains of two)",
    )
    add("--depth", choices=[str(depth) for depth in Depth], default=str(Depth.CORE), help="default: core")
    add("--only", metavar="GLOB", help="with --compare: only the cells whose id matches")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--again", action="store_true", help="make also those results again that are up to date")
    mode.add_argument("--compare", action="store_true", help="write nothing: hold what is seen against results/")
    mode.add_argument("--draw", action="store_true", help="run nothing: draw the pages from results/")
    add("--results", type=folder_path, default=FOLDER, metavar="DIR", help=f"default {FOLDER}/")
    add("--docs", type=folder_path, default=Path("docs"), metavar="DIR", help="where the pages go (default docs/)")
    add("--out", type=folder_path, default=DEFAULT_OUT, metavar="DIR", help="reports, plans and ledgers of every run")
    add_where(parser, _JOBS)
    add("--lanes", type=whole_number(1, MAX_LANES), metavar="N", help="runs side by side in each of them")
    add(
        "--limit-s",
        type=whole_number(1, 86_400),
        default=LIMIT_S,
        metavar="N",
        help=f"how many seconds one configuration may take before the survey goes on without it (default {LIMIT_S})",
    )
    add("--quiet", action="store_true", help="print nothing but errors")
    add("--turn", metavar="PLACE", help=argparse.SUPPRESS)  # of one that is surveyed beside others
    add_own_network(parser)


def _run(options: argparse.Namespace) -> Exit:
    if options.only is not None and not options.compare:
        raise CommandError(
            "--only without --compare; expected whole results, so that they can be published", Exit.USAGE
        )
    out = console(quiet=options.quiet)
    if not options.draw:
        require_where(options)
        if options.turn:
            end_with_parent()
        enter_own_network(options, options.subjects)
        wanted = _wanted(options)
        for name in wanted.names:
            require_subject(name)
        code = survey(wanted, out)
        if options.compare or options.turn or code is Exit.INTERRUPTED:
            return code
    for path in draw(options.results, options.docs):
        print_line(out, f"drawn: {path}")
    return Exit.PASS if options.draw else code


def _wanted(options: argparse.Namespace) -> Wanted:
    theirs = [name for name in built_in_subjects() if name.partition(":")[0] not in _OURS]
    choice = Choice(depth=Depth(options.depth), only=options.only, examples=0, futures=False)
    examine = ExamineOptions(
        choice=choice,
        strict=False,
        out=options.out,
        quiet=options.quiet,
        ray=options.ray,
        jobs=options.jobs,
        lanes=options.lanes,
        limit_s=options.limit_s,
    )
    return Wanted(
        names=tuple(dict.fromkeys(options.subjects)) or (*theirs, *CHAINS),
        asked=bool(options.subjects),
        results=options.results,
        examine=examine,
        again=options.again,
        compare=options.compare,
        turn=options.turn,
        shared=_shared_words(options),
    )


def _shared_words(options: argparse.Namespace) -> tuple[str, ...]:
    words = ["--depth", options.depth, "--limit-s", str(options.limit_s)]
    words += [word for name in ("results", "docs", "out") for word in (f"--{name}", str(getattr(options, name)))]
    words += ["--lanes", str(options.lanes)] if options.lanes else []
    return (*words, *(["--again"] if options.again else []), *(["--own-network"] if options.own_network else []))


COMMAND = Command(name="survey", description=_DESCRIPTION, epilog=_EPILOG, options=_options, run=_run)
