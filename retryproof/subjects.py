"""`retryproof subjects`: which forwarders can be examined here, and what to install for the others."""

import argparse
import asyncio

from rich.text import Text

from retryproof.command import Command
from retryproof.exits import Exit
from retryproof.sessions import require_subject
from retryproof.terminal import console, sheet
from retryproof.url_options import refuse_urls
from suites.registry import built_in_subjects, described
from suites.subject import SubjectError, SubjectSpec

WIDE = 110  # columns from which on there is room for all of a subject
LAST = "version, or what is missing"
_EXITS = """\
exit codes:
  0    listed, also where some cannot run here
  2    no subject has that name, or its file cannot be used"""


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "id", metavar="ID", nargs="?", help="one subject, a TOML file or module:callable; without it, all built-in ones"
    )


def _run(options: argparse.Namespace) -> Exit:
    names = built_in_subjects() if options.id is None else (options.id,)
    refuse_urls(names)
    out = console()
    wide = out.width >= WIDE
    more = ("promises", "upstreams", "isolation") if wide else ()
    table = sheet(out, "subject", "runs here", *more, LAST, fold=(LAST,))
    for name in names:
        require_subject(name)
        spec = asyncio.run(_described(name))
        if isinstance(spec, SubjectSpec):
            facts = (spec.facts.promises, str(spec.upstreams), spec.isolation) if wide else ()
            table.add_row(Text(name), "yes", *facts, Text(spec.version))
        else:
            table.add_row(Text(name), "no", *("",) * len(more), Text(str(spec)))
    out.print(table)
    return Exit.PASS


async def _described(name: str) -> SubjectSpec | SubjectError:
    try:
        return await described(name)
    except SubjectError as error:
        return error


COMMAND = Command(
    name="subjects",
    description="List the built-in subjects: can each run here, and if not, what to install; what\n"
    "it promises, and its version.",
    epilog=f"examples:\n  retryproof subjects\n  retryproof subjects mine.toml\n\n{_EXITS}",
    options=_options,
    run=_run,
)
