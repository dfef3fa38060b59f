"""`retryproof faults`: what can go wrong, and what it proves."""

import argparse

from rich.console import Console

from faults.catalogue import CATALOGUE, UnknownFaultError, fault_named
from faults.evidence import REFERENCE_CONTRACT
from faults.fault import Fault
from faults.vocabulary import Class, Replied
from retryproof.command import Command
from retryproof.exits import CommandError, Exit
from retryproof.terminal import console, print_labelled, print_line, sheet

WIDE = 110  # columns from which on there is room for all of a fault
CONTRACT_MARK = "*"
_EXITS = """\
exit codes:
  0    listed
  2    no fault has that id"""


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", nargs="?", help="one fault; without it, all of them")


def _run(options: argparse.Namespace) -> Exit:
    out = console()
    if options.id is None:
        _print_catalogue(out)
        return Exit.PASS
    try:
        fault = fault_named(options.id)
    except UnknownFaultError as error:
        raise CommandError(str(error), Exit.USAGE) from None
    print_labelled(out, *_explained(fault))
    return Exit.PASS


def _print_catalogue(out: Console) -> None:
    """In wire order. The facts are what the router did: received, accepted, executed, replied."""
    wide = out.width >= WIDE
    more = ("phase", "replied", "row") if wide else ()
    table = sheet(out, "id", "class", "rcvd/acc/exec", "twin", *more)
    for fault in CATALOGUE.values():
        truth = fault.truth
        facts = "/".join("yes" if fact else "no" for fact in (truth.received, truth.accepted, truth.executed))
        class_ = f"{fault.class_under()}{CONTRACT_MARK if _differs(fault) else ''}"
        rest = (fault.phase, truth.replied.name.lower(), fault.row) if wide else ()
        table.add_row(fault.id, class_, facts, fault.twin or "-", *rest)
    out.print(table)
    print_line(out, f"{CONTRACT_MARK} SAFE for a subject whose [contract] names that answer as not accepted")


def _differs(fault: Fault) -> bool:
    """Whether a contract changes what it proves."""
    return fault.class_under() is not fault.class_under(REFERENCE_CONTRACT)


def _class_text(fault: Fault) -> str:
    alone, under = fault.class_under(), fault.class_under(REFERENCE_CONTRACT)
    return f"{alone}; {under} under a contract" if _differs(fault) else str(alone)


def _explained(fault: Fault) -> list[tuple[str, str]]:
    truth = fault.truth
    facts = {"received": truth.received, "accepted": truth.accepted, "executed": truth.executed}
    retry = {
        Class.SAFE: "may be sent again",
        Class.AMBIGUOUS: "must not be sent again",
        Class.FINAL: "must not be sent again",
    }[fault.class_under()]
    return [
        ("fault", fault.id),
        ("happens", fault.says),
        ("phase", str(fault.phase)),
        ("truth", ", ".join(f"{'' if fact else 'not '}{name}" for name, fact in facts.items())),
        ("replied", "nothing" if truth.replied is Replied.NOTHING else f"{truth.replied.name.lower()} reply"),
        ("evidence", " ".join(filter(None, (str(fault.evidence.sight), str(fault.evidence.status or ""))))),
        ("class", f"{_class_text(fault)}: {retry}"),
        ("authority", fault.authority),
        ("twin", fault.twin or f"none ({fault.no_twin})"),
        ("row", fault.row),
        ("try it", f"retryproof check --only '*/{fault.id}/*'"),
    ]


COMMAND = Command(
    name="faults",
    description="List the catalogue, or explain one fault: what happens, the truth, the evidence,\n"
    "its class (may it be sent again?), its twin.",
    epilog=f"examples:\n  retryproof faults\n  retryproof faults reset-after\n\n{_EXITS}",
    options=_options,
    run=_run,
)
