"""`retryproof faults` and `retryproof subjects`: what there is, and what it means."""

import argparse
import asyncio

from rich.console import Console
from rich.text import Text

from faults.catalogue import CATALOGUE, Fault, UnknownFaultError, fault_named
from faults.evidence import REFERENCE_CONTRACT
from faults.vocabulary import Class, Replied
from retryproof.command import Command
from retryproof.exits import CommandError, Exit
from retryproof.sessions import require_subject
from retryproof.terminal import console, print_labelled, print_line, sheet
from suites.registry import built_in_subjects, described
from suites.subject import SubjectError, SubjectSpec

LAST = "version, or what is missing"
WIDE = 110  # columns from which on there is room for all of a fault
CONTRACT_MARK = "*"
_FAULT_EXITS = """\
exit codes:
  0    listed
  2    no fault has that id"""

_SUBJECT_EXITS = """\
exit codes:
  0    listed, also where some cannot run here
  2    no subject has that name, or its file cannot be used"""


def _fault_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", nargs="?", help="one fault; without it, all of them")


def _list_faults(options: argparse.Namespace) -> Exit:
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


def _subject_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "id", metavar="ID", nargs="?", help="one subject, or a TOML file; without it, all built-in ones"
    )


def _list_subjects(options: argparse.Namespace) -> Exit:
    names = built_in_subjects() if options.id is None else (options.id,)
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


FAULTS = Command(
    name="faults",
    summary="the catalogue: what can go wrong, and what it proves",
    description="List the catalogue, or explain one fault: what happens, the truth, the evidence,\n"
    "its class (may it be sent again?), its twin.",
    epilog=f"examples:\n  retryproof faults\n  retryproof faults reset-after\n\n{_FAULT_EXITS}",
    options=_fault_options,
    run=_list_faults,
)
SUBJECTS = Command(
    name="subjects",
    summary="the forwarders that can be examined here; what others lack",
    description="List the built-in subjects: can each run here, and if not, what to install; what\n"
    "it promises, and its version.",
    epilog=f"examples:\n  retryproof subjects\n  retryproof subjects mine.toml\n\n{_SUBJECT_EXITS}",
    options=_subject_options,
    run=_list_subjects,
)
