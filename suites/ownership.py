"""Which entries of a shared ledger belong to which run: told by content, however late they come."""

from collections.abc import Iterable

from fake_router.entries import (
    Accepted,
    AnyEntry,
    Executed,
    Received,
    Replied,
    Replying,
    Sighted,
    Striking,
    Struck,
    Unserved,
)


def own_entries(entries: Iterable[AnyEntry], window: range, operations: frozenset[int]) -> tuple[AnyEntry, ...]:
    """The entries that carry one of these operations, wherever they are, and those inside the window (of places in
    the ledger) that carry none. What carries another run's operation stays with that run.
    """
    of_exchange: dict[int, int | None] = {}
    of_striking: dict[int, int | None] = {}
    own = []
    for place, entry in enumerate(entries):
        operation = _operation_of(entry, of_exchange, of_striking)
        if operation in operations or (operation is None and place in window):
            own.append(entry)
    return tuple(own)


def _operation_of(
    entry: AnyEntry, of_exchange: dict[int, int | None], of_striking: dict[int, int | None]
) -> int | None:
    match entry:
        case Received(exchange=exchange, operation=operation):
            of_exchange[exchange] = operation
            return operation
        case Striking(seq=seq, operation=operation):
            of_striking[seq] = operation
            if entry.exchange is not None:  # answered before it was read, it has no Received
                of_exchange.setdefault(entry.exchange, operation)
            return operation
        case Unserved(operation=operation) | Sighted(operation=operation):
            return operation
        case Struck(striking=striking):
            return of_striking.get(striking)
        case Accepted() | Executed() | Replying() | Replied():
            return of_exchange.get(entry.exchange)
        case _:
            return None
