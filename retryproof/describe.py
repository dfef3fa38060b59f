"""`retryproof faults` and `retryproof subjects`: what there is, and what it means."""

import asyncio
from typing import Annotated

import typer
from rich.table import Table

from faults.catalogue import CATALOGUE, Fault, UnknownFaultError, fault_named
from faults.evidence import REFERENCE_CONTRACT
from faults.vocabulary import Class, Replied
from retryproof.exits import CommandError, Exit
from retryproof.terminal import console
from suites.registry import built_in_subjects, described
from suites.subject import SubjectError


def register(app: typer.Typer) -> None:
    """Add both commands."""
    app.command("faults")(faults)
    app.command("subjects")(subjects)


def faults(
    id_: Annotated[str | None, typer.Argument(metavar="[ID]", help="One fault; without it, all of them.")] = None,
) -> None:
    """List the catalogue, or explain one fault: what happens, the truth, the evidence, its class, its twin."""
    out = console()
    if id_ is None:
        out.print(_catalogue_table())
        return
    try:
        fault = fault_named(id_)
    except UnknownFaultError as error:
        raise CommandError(str(error), Exit.USAGE) from None
    for name, value in _explained(fault):
        out.print(f"{name:<10} {value}")


def _catalogue_table() -> Table:
    table = Table(title="faults, in wire order", title_justify="left")
    for name in ("id", "phase", "class", "received", "accepted", "executed", "replied", "twin", "row"):
        table.add_column(name, overflow="fold")
    for fault in CATALOGUE.values():
        truth = fault.truth
        facts = (truth.received, truth.accepted, truth.executed)
        table.add_row(
            fault.id,
            fault.phase,
            _class_text(fault),
            *("yes" if fact else "no" for fact in facts),
            truth.replied.name.lower(),
            fault.twin or "-",
            fault.row,
        )
    return table


def _class_text(fault: Fault) -> str:
    alone, under = fault.class_under(), fault.class_under(REFERENCE_CONTRACT)
    return str(alone) if alone is under else f"{alone}; {under} under a contract"


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


def subjects(
    id_: Annotated[str | None, typer.Argument(metavar="[ID]", help="One subject; without it, all of them.")] = None,
) -> None:
    """List the built-in subjects: what each promises, whether it can run here, and if not, what to install."""
    out = console()
    table = Table(title="subjects", title_justify="left")
    for name in ("subject", "promises", "upstreams", "isolation", "version", "runs here"):
        table.add_column(name, overflow="fold")
    try:
        names = built_in_subjects() if id_ is None else (id_,)
        for name in names:
            table.add_row(name, *_subject_row(name))
    except ValueError as error:
        raise CommandError(str(error), Exit.USAGE) from None
    out.print(table)


def _subject_row(name: str) -> tuple[str, ...]:
    try:
        spec = asyncio.run(described(name))
    except SubjectError as error:
        return ("", "", "", "", f"no: {error}")
    return (spec.facts.promises, str(spec.upstreams), spec.isolation, spec.version, "yes")
