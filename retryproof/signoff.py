"""`retryproof signoff`: the same plans against base and candidate, and what changes for whom."""

import argparse

from retryproof.command import EXIT_CODES, Command
from retryproof.examine import examine_subject, items_for
from retryproof.exits import Exit
from retryproof.options import add_examine_options, examine_options
from retryproof.sessions import require_subject
from retryproof.sign_off_folder import FILE, SIDES, SignOffFolder
from retryproof.sign_off_page import print_sign_off
from retryproof.signing import Signing
from retryproof.terminal import console, print_line
from retryproof.url_options import refuse_urls

_DESCRIPTION = """\
Sign off a change of retry policy: the same plans against BASE and CANDIDATE,
and the cells that differ."""

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
  retryproof signoff old.toml new.toml --examples 2000 --strict

{EXIT_CODES}

  For a sign-off 0 means that the change may ship, 1 that it blocks, 3 that it
  is unproven, and 4 that either side could not run."""


def _options(parser: argparse.ArgumentParser) -> None:
    what = "a built-in name, a variant of one, or a TOML file"
    parser.add_argument("base", metavar="BASE", help=f"the subject as it is: {what}")
    parser.add_argument("candidate", metavar="CANDIDATE", help="the subject as it shall be: likewise")
    add_examine_options(parser)


def _run(options: argparse.Namespace) -> Exit:
    wanted = examine_options(options)
    names = (options.base, options.candidate)
    refuse_urls(names)
    items = items_for(names, wanted)
    terminal = console(quiet=wanted.quiet)
    signing = Signing(
        folder=SignOffFolder(wanted.out, *names),
        names=names,
        specs=(require_subject(names[0], wanted.given), require_subject(names[1], wanted.given)),
        options=wanted,
    )
    with signing.under_way():
        for name, side in zip(names, SIDES, strict=True):
            examine_subject(name, items, wanted, terminal, into=signing.folder.side(side))
    sign_off = signing.write()
    print_sign_off(terminal, sign_off)
    print_line(terminal, f"sign-off: {signing.folder.path / FILE}")
    return Exit(sign_off.exit)


COMMAND = Command(
    name="signoff",
    description=_DESCRIPTION,
    epilog=_EPILOG,
    options=_options,
    run=_run,
)
