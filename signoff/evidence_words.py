"""Rows of the evidence matrix in words, for the page and for a terminal."""

from collections.abc import Iterable, Mapping

from faults.catalogue import CATALOGUE
from suites.evidence.cases import How
from suites.evidence.got import Got, Holds
from suites.evidence.matrix import Row
from suites.evidence.scene import Seen

SAME = "same"
CANNOT = "cannot"
_NAMES_IN_WORDS = {Holds.NOTHING: "empty"}


def words_of(got: Got) -> str:
    """One request as its client saw it."""
    status = str(got.status) if got.status else ""
    if not got.error:
        holds = "" if got.holds is None else _NAMES_IN_WORDS.get(got.holds, got.holds.value)
        size = f" ({got.events})" if got.events else f" ({got.body_bytes} bytes)" if got.body_bytes else ""
        return f"{status}, {holds}{size}"
    before = ", ".join(filter(None, (status, got.events)))
    first, last = got.error[0], got.error[-1]
    cause = "" if last == first else f" < {last}"
    return f"{before + ', then ' if before else ''}{first}{cause}{', ' + got.reason if got.reason else ''}"


def counts_of(seen: Seen) -> str:
    """How often it was sent, and how often it ran."""
    return f"{'?' if seen.sent is None else seen.sent}/{seen.ran}"


def cell_of(row: Row | None, beside: Row | None = None) -> str:
    """All that was seen in one way; "same" where another way showed nothing else."""
    if row is None:
        return "-"
    if row.cannot:
        return CANNOT
    if beside is not None and row.seen == beside.seen:
        return SAME
    return " or ".join(dict.fromkeys(map(_seen, row.seen)))


def cells_of(ways: Mapping[How, Row]) -> tuple[str, ...]:
    """What was seen of a fault on a first connection, on a reused one, over TLS, with 16 MiB, and with a GET."""
    first = ways.get(How.FIRST)
    beside_first = [cell_of(ways.get(how), first) for how in (How.REUSED, How.TLS, How.LARGE)]
    return cell_of(first), *beside_first, cell_of(ways.get(How.GET))


def _seen(seen: Seen) -> str:
    harm = f"; next: {words_of(seen.then)}" if seen.harmed else ""
    return f"{words_of(seen.got)} [{counts_of(seen)}]{harm}"


def cannot_of(rows: Iterable[Row]) -> list[tuple[str, list[str], list[str]]]:
    """Why clients cannot be asked for a fault: the reason, those clients, those faults."""
    reasons: dict[str, list[Row]] = {}
    for row in rows:
        if row.cannot:
            reasons.setdefault(row.cannot, []).append(row)
    return [
        (why, sorted({row.client for row in of_it}), sorted({row.fault for row in of_it}))
        for why, of_it in sorted(reasons.items())
    ]


def ways_of(rows: Iterable[Row]) -> dict[tuple[str, str], dict[How, Row]]:
    """The rows by fault, in wire order, and client."""
    order = list(CATALOGUE)
    known = sorted(
        (row for row in rows if row.fault in CATALOGUE), key=lambda row: (order.index(row.fault), row.client)
    )
    ways: dict[tuple[str, str], dict[How, Row]] = {}
    for row in known:
        ways.setdefault((row.fault, row.client), {})[row.how] = row
    return ways
