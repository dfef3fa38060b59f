"""The catalogue: every fault that a plan can name, in wire order; families, whose members a number tells apart;
the toxics of Toxiproxy, and what is done to containers."""

from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache

from faults.connection_faults import connection_faults
from faults.content_faults import coding_faults, content_faults
from faults.cut_faults import cut_families, cut_faults
from faults.disturbance_faults import disturbance_faults
from faults.families import NUMBER, Family, UnknownFaultError
from faults.fault import Fault
from faults.form_faults import form_faults
from faults.idle_faults import idle_faults
from faults.name_faults import name_faults
from faults.poison_faults import poison_faults
from faults.pool_faults import pool_faults
from faults.reply_faults import fragment_faults, status_faults, wait_faults
from faults.request_faults import request_faults
from faults.stream_faults import stream_faults
from faults.time_faults import time_faults
from faults.tls_faults import handshake_faults, tls_ending_faults

FAMILIES: tuple[Family, ...] = cut_families()


def _catalogued() -> Iterator[Fault]:
    yield from pool_faults()
    yield from idle_faults()
    yield from name_faults()
    yield from connection_faults()
    yield from handshake_faults()
    yield from request_faults()
    yield from wait_faults()
    yield from fragment_faults()
    yield from status_faults()
    yield from content_faults()
    yield from coding_faults()
    yield from cut_faults()
    for family in FAMILIES:
        yield from (family.build(number) for number in family.shown)
    yield from form_faults()
    yield from tls_ending_faults()
    yield from stream_faults()
    yield from time_faults()


CATALOGUE: dict[str, Fault] = {fault.id: fault for fault in _catalogued()}
POISONS: dict[str, Fault] = {fault.id: fault for fault in poison_faults()}  # they need Toxiproxy on the way
# They need a container that stands between.
DISTURBANCES: dict[str, Fault] = {fault.id: fault for fault in disturbance_faults()}
LETS_PASS: Fault = next(fault for fault in CATALOGUE.values() if fault.lets_pass)  # what meets an exchange unplanned


@cache
def fault_named(id_: str) -> Fault:
    """The fault of that id, of the catalogue or of a family. Raises UnknownFaultError with the nearest names."""
    if (fault := CATALOGUE.get(id_) or POISONS.get(id_) or DISTURBANCES.get(id_)) is not None:
        return fault
    if (family := _family_of(id_)) is not None:
        return family.member(id_)
    if (family := next((family for family in FAMILIES if family.name == id_), None)) is not None:
        raise UnknownFaultError(
            f"fault {id_!r} is a family; expected a number from 1 to {family.last} in place of its {NUMBER}, as in "
            f"{family.id_of(1)!r}"
        )
    near = ", ".join(
        get_close_matches(id_, (*CATALOGUE, *POISONS, *DISTURBANCES, *(family.name for family in FAMILIES)), n=3)
    )
    hint = f"nearest: {near}" if near else "`retryproof faults` lists all there are"
    raise UnknownFaultError(f"fault {id_!r} is not in the catalogue; {hint}")


def is_fault(id_: str) -> bool:
    """There is a fault of that id."""
    try:
        fault_named(id_)
    except UnknownFaultError:
        return False
    return True


def uncatalogued(id_: str) -> str:
    """Why a fault of that id has no cell and no row, in words; empty where that is not so."""
    family = None if id_ in CATALOGUE or not is_fault(id_) else _family_of(id_)
    if family is None:
        return ""
    shown = ", ".join(map(family.id_of, family.shown))
    return f"of {family.name!r} the catalogue has {shown}; {id_!r} is named by a plan (`retryproof replay PLAN.json`)"


def filed_under(id_: str) -> str:
    """The name under which a fault is counted: its own where it is in the catalogue, else its family's."""
    family = None if id_ in CATALOGUE or id_ in POISONS or id_ in DISTURBANCES else _family_of(id_)
    return id_ if family is None else family.name


def _family_of(id_: str) -> Family | None:
    return next((family for family in FAMILIES if family.holds(id_)), None)
