"""What the evidence matrix teaches, read off its rows: rules over facts, no fault and no client by name."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from faults.catalogue import CATALOGUE
from faults.evidence import REFERENCE_CONTRACT
from faults.fault import Fault
from faults.vocabulary import Class, Sight
from suites.evidence.cases import How
from suites.evidence.got import HANGS, Holds
from suites.evidence.matrix import Matrix, Row
from suites.evidence.scene import Seen

_ENDED = (Sight.REFUSED, Sight.RESET)  # the kernel has an errno for them


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One lesson, and the faults with which each client teaches it."""

    title: str
    says: str
    by_client: dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lesson:
    title: str
    says: str
    teaches: Callable[[Fault, Row, Seen], bool]


def _lost_answer(fault: Fault, _: Row, seen: Seen) -> bool:
    return fault.evidence.sight is Sight.STATUS and bool(seen.got.error) and seen.got.status == 0


def _false_success(fault: Fault, row: Row, seen: Seen) -> bool:
    whole = fault.evidence.sight is Sight.WHOLE or seen.got.holds is Holds.RESULT  # sent again, and its own
    return row.how is not How.GET and seen.got.succeeded and not whole


_LESSONS = (
    _Lesson(
        title="A success that is none",
        says="The answer was cut, garbled or never came whole, and the client raises nothing and gives a 2xx.",
        teaches=_false_success,
    ),
    _Lesson(
        title="Another's answer",
        says="The next request of the same client gets what was not meant for it, as a success.",
        teaches=lambda _, __, seen: seen.then.succeeded and seen.then.holds is not Holds.RESULT,
    ),
    _Lesson(
        title="An interim answer taken for the final one",
        says="The client gives a 1xx to its caller (RFC 9110 s15.2: a client reads on).",
        teaches=lambda _, __, seen: not seen.got.error and 0 < seen.got.status < 200,
    ),
    _Lesson(
        title="Nothing, for ever",
        says="The client gives neither an answer nor an error: it has a read timeout, and waits beyond it.",
        teaches=lambda _, __, seen: HANGS in seen.got.error,
    ),
    _Lesson(
        title="An answer lost",
        says="The router sent a whole answer with a status, and the client raises an error instead of giving it.",
        teaches=_lost_answer,
    ),
    _Lesson(
        title="POSTs sent again unasked",
        says="One call, and the router's ledger counts more than one sending.",
        teaches=lambda _, row, seen: row.how is not How.GET and (seen.sent or 0) > 1,
    ),
    _Lesson(
        title="GETs sent again unasked",
        says="The same for a method that is idempotent (RFC 9110 s9.2.2 allows it).",
        teaches=lambda _, row, seen: row.how is How.GET and (seen.sent or 0) > 1,
    ),
    _Lesson(
        title="Executed more than once",
        says="One call of the client, and the work ran twice or more.",
        teaches=lambda _, __, seen: seen.ran > 1,
    ),
    _Lesson(
        title="The next request fails",
        says="The fault is over, and the next operation on the same client does not get its result.",
        teaches=lambda _, __, seen: not seen.then.succeeded,
    ),
    _Lesson(
        title="No errno",
        says="The kernel refused or reset the connection, and no exception down to the first cause has an errno.",
        teaches=lambda fault, _, seen: fault.evidence.sight in _ENDED and bool(seen.got.error) and not seen.got.reason,
    ),
)


def findings_of(matrix: Matrix) -> list[Finding]:
    """Every lesson that some row teaches, with its clients and faults."""
    found = []
    for lesson in _LESSONS:
        by_client: dict[str, list[str]] = {}
        for row in matrix.rows:
            fault = CATALOGUE.get(row.fault)
            if fault is not None and any(lesson.teaches(fault, row, seen) for seen in row.seen):
                by_client.setdefault(row.client, []).append(row.fault)
        if by_client:
            found.append(_finding(lesson, by_client))
    same = _same_error(matrix)
    return [*found, same] if same is not None else found


def _finding(lesson: _Lesson, by_client: dict[str, list[str]]) -> Finding:
    faults = {client: _once(by_client[client]) for client in sorted(by_client)}
    return Finding(title=lesson.title, says=lesson.says, by_client=faults)


def _same_error(matrix: Matrix) -> Finding | None:
    """Exception classes that tell nothing: seen where a retry is safe, and where it is not."""
    classes: dict[tuple[str, str], set[bool]] = {}
    for row in matrix.rows:
        fault = CATALOGUE.get(row.fault)
        if (
            fault is None
            or row.varies
            or row.how is How.GET
            or fault.class_under(REFERENCE_CONTRACT) is not _class(fault)
        ):
            continue
        for seen in row.seen:
            if seen.got.error and HANGS not in seen.got.error:
                classes.setdefault((row.client, seen.got.error[0]), set()).add(_class(fault) is Class.SAFE)
    told: dict[str, list[str]] = {}
    for (client, name), safe in sorted(classes.items()):
        if len(safe) == 2:
            told.setdefault(client, []).append(name)
    if not told:
        return None
    says = "The client raises it where a retry is provably safe, and where it is not: its class alone decides nothing."
    by_client = {client: tuple(names) for client, names in told.items()}
    return Finding(title="The same exception for both", says=says, by_client=by_client)


def _class(fault: Fault) -> Class:
    return fault.class_under()


def _once(names: Iterable[str]) -> tuple[str, ...]:
    order = list(CATALOGUE)
    return tuple(sorted(set(names), key=order.index))
