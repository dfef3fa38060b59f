"""`retryproof signoff`: the same plans against base and candidate, and what changes for whom."""

import argparse
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from faults.coverage import Depth
from retryproof.command import EXIT_CODES, Command, file_path
from retryproof.examine import examine_sides, items_for
from retryproof.exits import CommandError, Exit
from retryproof.folder import write_whole
from retryproof.github import announce, commands_stopped, could_not_run
from retryproof.given_mix import HELP as MIX_HELP
from retryproof.given_mix import given_mix, with_measures
from retryproof.given_report import load_given_report
from retryproof.options import ExamineOptions, add_examine_options, examine_options
from retryproof.revisions import checked_out
from retryproof.sessions import require_subject
from retryproof.sign_off_folder import FILE, PATHS, SIDES, SignOffFolder
from retryproof.sign_off_page import print_sign_off
from retryproof.signing import Signing, not_begun
from retryproof.telling import varying
from retryproof.terminal import console, print_line
from retryproof.url_options import refuse_urls
from signoff.allowances import AllowanceError, Allowed, load_allowances
from signoff.annotations import annotations_of_sign_off
from signoff.earlier import earlier_than
from signoff.items import Item, NothingToDoError
from signoff.markdown_sign_off import markdown_of_sign_off
from signoff.report import Report, ReportError
from signoff.sign_off import SignOff
from suites.run import Promise
from suites.under_text import NOTHING_OVER

_DESCRIPTION = """\
Sign off a change of retry policy: the same plans against BASE and CANDIDATE,
and what changes for whom. `--base REPORT.json` stands for a BASE that was
examined before."""

_EPILOG = f"""\
what a cell can be:
  regressed     a must that held is broken: blocks
  still broken  broken before and after: warns; blocks with --strict
  fixed         a must that was broken holds
  weaker        a safe retry lost, a poorer outcome, or more attempts for the
                same outcome: warns
  stronger      the reverse
  unproven      a side proved nothing, or only one side could run it
  same          no difference

examples:
  retryproof signoff reference:safe reference:blanket-5xx
  retryproof signoff nginx nginx:retry-non-idempotent --only 'wait/*'
  retryproof signoff HEAD:proxy.toml proxy.toml        what this change does
  retryproof signoff proxy.toml proxy.toml:next        a variant in the file
  retryproof signoff proxy.toml --base report.json     what was examined before
  retryproof signoff old.toml new.toml --allow known.toml --strict

{EXIT_CODES}

  For a sign-off 0 means that the change may ship, 1 that it blocks, 3 that it
  is unproven, and 4 that either side could not run: then no verdict is claimed.
  What --allow excuses neither blocks nor counts as unproven."""


def _options(parser: argparse.ArgumentParser) -> None:
    parser.usage = (
        f"{parser.prog} [OPTION]... BASE CANDIDATE\n       {parser.prog} [OPTION]... CANDIDATE --base REPORT.json"
    )
    add = parser.add_argument
    add(
        "subjects",
        metavar="SUBJECT",
        nargs="+",
        help="BASE and CANDIDATE, the subject as it is and as it shall be: a built-in name, a TOML file, a variant of "
        "one of them (proxy.toml:next), or a file as a revision in git has it (HEAD~1:proxy.toml); with --base only "
        "CANDIDATE",
    )
    add(
        "--base",
        type=file_path,
        metavar="REPORT.json",
        help="an earlier report of the base: its own plans are lived through by the candidate",
    )
    add(
        "--allow",
        type=file_path,
        metavar="FILE",
        help="cells that are known to differ, in TOML: each a glob, with reason, owner and the last day on which it "
        "excuses (docs/signoff.md)",
    )
    add("--mix", type=file_path, metavar="FILE", help=MIX_HELP)
    add_examine_options(parser)


def _run(options: argparse.Namespace) -> Exit:
    wanted = examine_options(options, options.subjects)
    _check_usage(options, wanted)
    allowed = () if options.allow is None else _allowances(options.allow)
    try:
        with commands_stopped(wanted.github):
            sign_off = _signed_off(options, wanted, allowed)
    except CommandError as error:
        if wanted.github:
            annotation, page = could_not_run(error, " ".join(options.subjects))
            announce([annotation], [page])
        raise
    if wanted.github:
        announce(annotations_of_sign_off(sign_off), [markdown_of_sign_off(sign_off)])
    return Exit(sign_off.exit)


def _signed_off(options: argparse.Namespace, wanted: ExamineOptions, allowed: tuple[Allowed, ...]) -> SignOff:
    """Lived through, written and printed."""
    terminal = console(quiet=wanted.quiet)
    mix = given_mix(options.mix, wanted)
    with checked_out(options.subjects) as names:
        wanted = replace(wanted, typed=dict(zip(names, options.subjects, strict=True)))
        if options.base is None:
            signing, items = _of_two(names, options, wanted, allowed)
        else:
            signing, items = _of_earlier(names[0], options, wanted, allowed)
        with signing.under_way():
            into = [signing.folder.side(side) for side in SIDES[-len(names) :]]
            measured = with_measures(signing.options, names, mix)
            examined = examine_sides(names, items, measured, terminal, into=into, on_written=signing.say_how_far)
            sides = [one.report for one in examined]
            found = _varying(names, items, sides, signing.options, terminal)
    sign_off = signing.write(varying=found)
    print_sign_off(terminal, sign_off)
    print_line(terminal, f"sign-off: {signing.folder.path / FILE}")
    return sign_off


def _varying(
    names: tuple[str, ...], items: tuple[Item, ...], sides: list[Report], wanted: ExamineOptions, terminal: Console
) -> frozenset[str]:
    """Where both can take turns: neither is a report of before, or has to be the only one at its address."""
    if len(sides) != len(SIDES) or any(require_subject(name, wanted.given).standing for name in names):
        return frozenset()
    return varying(names, items, (sides[0], sides[1]), wanted, terminal)


def _check_usage(options: argparse.Namespace, wanted: ExamineOptions) -> None:
    names = options.subjects
    expected = "BASE and CANDIDATE" if options.base is None else "CANDIDATE alone beside --base"
    if len(names) != (2 if options.base is None else 1):
        raise CommandError(f"{' '.join(names)!r}; expected {expected}; see `retryproof signoff --help`", Exit.USAGE)
    refuse_urls(names)
    choice = wanted.choice
    drawn = choice.examples is not None or choice.seed or choice.under != NOTHING_OVER or choice.toxics
    if options.base is not None and (drawn or choice.depth is Depth.DEEP):
        raise CommandError(
            "--base beside --seed, --examples, --under, --draw-toxics or --depth deep; expected none of them: the "
            "plans of that report are lived through (--only and --depth core choose some of them)",
            Exit.USAGE,
        )


def _of_two(
    names: tuple[str, ...], options: argparse.Namespace, wanted: ExamineOptions, allowed: tuple[Allowed, ...]
) -> tuple[Signing, tuple[Item, ...]]:
    """The same plans for both."""
    items = items_for(names, wanted)
    base, candidate = (require_subject(name, wanted.given) for name in names)
    promised = all(spec.facts.promises is Promise.FUTURES for spec in (base, candidate))
    wanted = replace(wanted, choice=replace(wanted.choice, futures=promised))
    return Signing(
        folder=SignOffFolder(wanted.out, *options.subjects),
        names=tuple(options.subjects),
        begun=(not_begun(base, wanted), not_begun(candidate, wanted)),
        options=wanted,
        allowed=allowed,
    ), items


def _of_earlier(
    name: str, options: argparse.Namespace, wanted: ExamineOptions, allowed: tuple[Allowed, ...]
) -> tuple[Signing, tuple[Item, ...]]:
    """The plans of the base's report, for the candidate."""
    candidate = require_subject(name, wanted.given)
    choice, path = wanted.choice, options.base
    try:
        earlier = earlier_than(load_given_report("--base", path), candidate, only=choice.only, depth=choice.depth)
    except (ReportError, NothingToDoError) as error:
        raise CommandError(f"--base {str(path)!r}: {error}", Exit.USAGE) from None
    wanted = replace(wanted, choice=earlier.choice)
    folder = SignOffFolder(wanted.out, str(path), *options.subjects)
    write_whole(folder.path / PATHS[0], path.read_bytes())
    return Signing(
        folder=folder,
        names=(str(path), options.subjects[0]),
        begun=(earlier.report, not_begun(candidate, wanted)),
        options=wanted,
        allowed=allowed,
        earlier=earlier,
    ), earlier.items


def _allowances(path: Path) -> tuple[Allowed, ...]:
    try:
        return load_allowances(path)
    except AllowanceError as error:
        raise CommandError(str(error), Exit.USAGE) from None
    except OSError as error:
        raise CommandError(
            f"cannot read --allow {str(path)!r}: {error.strerror}; expected a file of allowances (docs/signoff.md)",
            Exit.USAGE,
        ) from None


COMMAND = Command(
    name="signoff",
    description=_DESCRIPTION,
    epilog=_EPILOG,
    options=_options,
    run=_run,
)
