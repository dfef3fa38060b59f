"""`retryproof survey`: who retries what, of all subjects that can run here."""

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from faults.coverage import Depth
from retryproof.command import Command, folder_path, whole_number
from retryproof.drifting import compared
from retryproof.exits import CommandError, Exit, joined
from retryproof.options import DEFAULT_OUT, MAX_LANES, ExamineOptions, add_own_network, enter_own_network
from retryproof.output import say
from retryproof.sessions import require_subject
from retryproof.survey_faces import draw
from retryproof.surveying import (
    Candidate,
    MissingError,
    candidate,
    other_versions,
    start_ms,
    surveyed,
    write_result,
)
from retryproof.terminal import console, print_line
from retryproof.where_options import add_where, require_where
from signoff.items import Choice
from signoff.published import FOLDER, Published
from suites.registry import REFERENCE, built_in_subjects
from suites.subject import Isolation

LIMIT_S = 600
CHAINS = (
    "nginx+litellm-proxy",
    "openai+litellm-proxy",
    "openai+nginx:retry-non-idempotent",
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

_EPILOG = """\
examples:
  retryproof survey                          all that can run here
  retryproof survey nginx haproxy --jobs 2   these, with two processes
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """names: those that were asked for, if any were."""

    names: tuple[str, ...]
    asked: bool
    results: Path
    examine: ExamineOptions
    again: bool
    compare: bool


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
    add_where(parser)
    add("--lanes", type=whole_number(1, MAX_LANES), metavar="N", help="runs side by side in each of them")
    add(
        "--limit-s",
        type=whole_number(1, 86_400),
        default=LIMIT_S,
        metavar="N",
        help=f"how many seconds one configuration may take before the survey goes on without it (default {LIMIT_S})",
    )
    add("--quiet", action="store_true", help="print nothing but errors")
    add_own_network(parser)


def _run(options: argparse.Namespace) -> Exit:
    if options.only is not None and not options.compare:
        raise CommandError(
            "--only without --compare; expected whole results, so that they can be published", Exit.USAGE
        )
    out = console(quiet=options.quiet)
    if not options.draw:
        require_where(options)
        enter_own_network(options, options.subjects)
        wanted = _wanted(options)
        for name in wanted.names:
            require_subject(name)
        code = _survey(wanted, out)
        if options.compare or code is Exit.INTERRUPTED:
            return code
    for path in draw(options.results, options.docs):
        print_line(out, f"drawn: {path}")
    return Exit.PASS if options.draw else code


def _wanted(options: argparse.Namespace) -> _Wanted:
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
    return _Wanted(
        names=tuple(dict.fromkeys(options.subjects)) or (*theirs, *CHAINS),
        asked=bool(options.subjects),
        results=options.results,
        examine=examine,
        again=options.again,
        compare=options.compare,
    )


def _survey(wanted: _Wanted, out: Console) -> Exit:
    began = time.monotonic()
    codes: list[Exit] = []
    for number, name in enumerate(wanted.names, 1):
        try:
            one = candidate(name, wanted.examine, wanted.results)
            place = f"[{number}/{len(wanted.names)}] {name} {one.number}"
            codes += _compare(one, wanted, out, place) if wanted.compare else _publish(one, wanted, out, place)
        except MissingError as error:
            say(f"not surveyed: {error}")
            codes += [Exit.COULD_NOT_RUN] if wanted.asked else []
        except CommandError as error:
            say(f"{name}: {error}")
            codes.append(error.code)
            if error.code in (Exit.INTERRUPTED, Exit.USAGE):
                break
    done = len(codes) - sum(code in (Exit.COULD_NOT_RUN, Exit.INTERRUPTED) for code in codes)
    print_line(out, f"{done} of {len(wanted.names)} configurations in {time.monotonic() - began:.0f} s")
    if wanted.compare and not codes:
        return Exit.UNKNOWN
    return joined(codes)


def _publish(one: Candidate, wanted: _Wanted, out: Console, place: str) -> list[Exit]:
    earlier = one.earlier()
    if earlier is not None and one.is_up_to_date(earlier) and not wanted.again:
        print_line(out, f"{place}: up to date")
        return [Exit.PASS]
    _say_other_versions(one)
    _print_budget(one, out, place)
    began = time.monotonic()
    result = surveyed(one, wanted.examine, out)
    write_result(one.path, result)
    print_line(out, f"{place}: {_counted(result)}; {time.monotonic() - began:.0f} s; {one.path}")
    return [Exit.PASS]


def _compare(one: Candidate, wanted: _Wanted, out: Console, place: str) -> list[Exit]:
    """None where nothing is published of this version: that of another says nothing of it."""
    earlier = one.earlier()
    if earlier is None:
        _say_other_versions(one)
        print_line(out, f"{place}: nothing is published of this version")
        return []
    if _changed(one, earlier, wanted):
        print_line(out, f"{place}: its configuration or its plans have changed since it was published")
    return [compared(one, earlier, wanted.examine, out, place)]


def _changed(one: Candidate, earlier: Published, wanted: _Wanted) -> bool:
    """Of a part of the cells only the configuration says whether it is up to date."""
    if wanted.examine.choice.only is not None:
        return earlier.configuration != one.configuration.digest
    return not one.is_up_to_date(earlier)


def _say_other_versions(one: Candidate) -> None:
    """Whoever looks for what was published finds another version than the one that runs here."""
    if others := other_versions(one):
        say(f"{one.name}: here is version {one.number}; published is another one: {', '.join(others)}")


def _print_budget(one: Candidate, out: Console, place: str) -> None:
    """What it takes to start it, before that is begun. Raises CommandError for one that does not start."""
    ms = start_ms(one.name, out)
    runs = sum(item.times for item in one.items)
    starts = f"starts in {ms:.0f} ms, shared by {runs} runs"
    if one.spec.isolation is Isolation.FRESH:
        starts = f"starts in {ms:.0f} ms x {runs} runs = {ms * runs / 1000:.1f} s"
    print_line(out, f"{place}: {len(one.items)} cells, {starts}")


def _counted(result: Published) -> str:
    return ", ".join(f"{count} {mark}" for mark, count in result.counts().items() if count)


COMMAND = Command(name="survey", description=_DESCRIPTION, epilog=_EPILOG, options=_options, run=_run)
