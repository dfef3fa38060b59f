"""The catalogue: every fault that a plan can name, in wire order."""

from difflib import get_close_matches

from faults.connection_faults import connection_faults
from faults.fault import Fault
from faults.name_faults import name_faults
from faults.pool_faults import pool_faults
from faults.reply_faults import final_faults, status_faults, time_faults, wait_faults
from faults.tls_faults import handshake_faults, tls_ending_faults

_ALL = (
    *pool_faults(),
    *name_faults(),
    *connection_faults(),
    *handshake_faults(),
    *wait_faults(),
    *status_faults(),
    *final_faults(),
    *tls_ending_faults(),
    *time_faults(),
)
CATALOGUE: dict[str, Fault] = {fault.id: fault for fault in _ALL}


class UnknownFaultError(ValueError):
    """A plan or a caller names a fault that the catalogue does not hold."""


def fault_named(id_: str) -> Fault:
    """The fault of that id. Raises UnknownFaultError with the nearest names."""
    try:
        return CATALOGUE[id_]
    except KeyError:
        near = ", ".join(get_close_matches(id_, CATALOGUE, n=3))
        hint = f"nearest: {near}" if near else "`retryproof faults` lists all there are"
        raise UnknownFaultError(f"fault {id_!r} is not in the catalogue; {hint}") from None
