"""`retryproof faults`: what can go wrong, and what it proves."""

import argparse
from pathlib import Path

from rich.console import Console
from rich.text import Text

from faults.catalogue import CATALOGUE, FAMILIES, fault_named
from faults.families import UnknownFaultError
from faults.picture import drawn
from retryproof.catalogue import CONTRACT_SAYS, by_phase, explained, facts_of, page, short_class
from retryproof.command import Command, file_path
from retryproof.exits import CommandError, Exit
from retryproof.terminal import console, print_labelled, print_line, sheet

WIDE = 110  # columns from which on there is room for all of a fault
_EXITS = """\
exit codes:
  0    listed, or written
  2    no fault has that id
  4    the page could not be written"""


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", nargs="?", help="one fault, with its picture; without it, all of them")
    parser.add_argument(
        "--write", metavar="FILE", type=file_path, help="write the catalogue there, as a page in Markdown"
    )


def _run(options: argparse.Namespace) -> Exit:
    if options.write is not None:
        _write(options.write, options.id)
        return Exit.PASS
    out = console()
    if options.id is None:
        _print_catalogue(out)
        return Exit.PASS
    try:
        fault = fault_named(options.id)
    except UnknownFaultError as error:
        raise CommandError(str(error), Exit.USAGE) from None
    print_labelled(out, *explained(fault))
    print_line(out, "")
    for line in drawn(fault.act):
        print_line(out, f"  {line}")
    return Exit.PASS


def _write(path: Path, id_: str | None) -> None:
    if id_ is not None:
        raise CommandError(f"{id_!r} beside --write {str(path)!r}; expected the whole catalogue, no ID", Exit.USAGE)
    try:
        path.write_text(page(), "utf-8")
    except OSError as error:
        raise CommandError(
            f"cannot write {str(path)!r}: {error.strerror}; expected the name of a file in a folder that exists",
            Exit.COULD_NOT_RUN,
        ) from None


def _print_catalogue(out: Console) -> None:
    """In wire order, one table a phase, all of the same widths. The facts are what the router did."""
    wide = out.width >= WIDE
    more = ("replied", "row") if wide else ()
    longest = max(map(len, CATALOGUE))
    for phase, faults in by_phase().items():
        print_line(out, Text(f"{phase}", "bold"))
        table = sheet(out, "id".ljust(longest), "class    ", "rcvd/acc/exec", "twin".ljust(longest), *more)
        for fault in faults:
            rest = (fault.truth.replied.name.lower(), ", ".join(fault.rows)) if wide else ()
            table.add_row(fault.id, short_class(fault), facts_of(fault), fault.twin or "-", *rest)
        out.print(table)
        print_line(out, "")
    for family in FAMILIES:
        print_line(out, f"{family.name}, N from 1 to {family.last}: {family.says}")
    print_line(out, CONTRACT_SAYS)


COMMAND = Command(
    name="faults",
    description="List the catalogue by phase, or explain one fault: what happens, the truth, the\n"
    "evidence, its class (may it be sent again?), its twin, and its wire picture.",
    epilog="examples:\n  retryproof faults\n  retryproof faults reset-after\n"
    f"  retryproof faults --write docs/catalogue.md\n\n{_EXITS}",
    options=_options,
    run=_run,
)
