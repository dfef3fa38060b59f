"""Runs as literals: short words for entries and outcomes, and the runs that are made of them.

An entry's seq is its place in the list, from 1, so `struck(4)` closes the fourth entry. Operation 1001 is the plan's
first, 2001 the fresh one after healing; connection and exchange have the same number unless said otherwise.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from fake_router.content import result_text, result_tokens
from fake_router.entries import (
    Accepted,
    AnyEntry,
    Closed,
    Dialled,
    EndedBy,
    Executed,
    Marked,
    Opened,
    Probed,
    Received,
    Rejected,
    Replied,
    Replying,
    Striking,
    Struck,
    Unserved,
    Witness,
)
from fake_router.replies import body_of
from faults.acts import needs_tls
from faults.catalogue import fault_named
from faults.evidence import REFERENCE_CONTRACT
from faults.plan import Plan, PlannedListener, PlannedOperation
from faults.vocabulary import Content
from suites.findings import Verdict
from suites.history import Arrival, Kind, Outcome
from suites.judge import judge
from suites.run import Promise, Run, Sockets, SubjectFacts

OP, FRESH = 1001, 2001
PROXY = SubjectFacts(name="proxy", promises=Promise.TRANSPARENT)
SERVER = SubjectFacts(name="server", promises=Promise.ANSWERING)
FUTURES = SubjectFacts(name="futures", promises=Promise.FUTURES)
LIBRARY = SubjectFacts(name="library", promises=Promise.ANSWERING, called=True)
CONTRACTED = SubjectFacts(name="contracted", promises=Promise.ANSWERING, contract=REFERENCE_CONTRACT)
PATIENT = SubjectFacts(name="patient", promises=Promise.ANSWERING, contract=REFERENCE_CONTRACT, attempts=3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A run, the verdict that it must get, and every check that says something other than PASS of it."""

    name: str
    rule: int
    run: Run
    verdict: Verdict | None
    says: Mapping[str, Verdict] = field(default_factory=dict)


def opened(connection: int, upstream: int = 0, port: int = 0) -> AnyEntry:
    return Opened(seq=0, connection=connection, upstream=upstream, peer_port=port or 40_000 + connection)


def closed(connection: int, by: EndedBy = EndedBy.ROUTER_RESET) -> AnyEntry:
    return Closed(seq=0, connection=connection, by=by)


def received(
    exchange: int,
    operation: int | None = OP,
    *,
    upstream: int = 0,
    connection: int = 0,
    nth: int = 1,
    of: int = 1,
    digests: tuple[int, int] | None = None,
) -> AnyEntry:
    """digests: of its content, and of its bytes."""
    return Received(
        seq=0,
        exchange=exchange,
        connection=connection or exchange,
        upstream=upstream,
        nth=nth,
        operation=operation,
        of_operation=of,
        content_digest=None if digests is None else digests[0],
        body_digest=None if digests is None else digests[1],
    )


def accepted(exchange: int) -> AnyEntry:
    return Accepted(seq=0, exchange=exchange)


def executed(exchange: int, execution: int) -> AnyEntry:
    return Executed(seq=0, exchange=exchange, execution=execution)


def replying(exchange: int, status: int = 200) -> AnyEntry:
    return Replying(seq=0, exchange=exchange, status=status, of_bytes=400)


def replied(exchange: int, *, whole: bool = True) -> AnyEntry:
    return Replied(seq=0, exchange=exchange, bytes_sent=400 if whole else 200, whole=whole)


def striking(fault: str, *, exchange: int | None = None, connection: int | None = None, upstream: int = 0) -> AnyEntry:
    return Striking(seq=0, fault=fault, upstream=upstream, connection=connection, exchange=exchange)


def struck(entry: int, witness: Witness = Witness.ACT, count: int = 1) -> AnyEntry:
    return Struck(seq=0, striking=entry, witness=witness, count=count)


def unserved(
    connection: int, operation: int | None = OP, upstream: int = 0, *, body_bytes: int | None = None
) -> AnyEntry:
    """body_bytes: how much of its body came behind a whole head."""
    return Unserved(
        seq=0,
        connection=connection,
        upstream=upstream,
        operation=operation,
        request_bytes=300,
        body_bytes=body_bytes,
    )


def dialled(upstream: int, port: int, *, refused: bool) -> AnyEntry:
    return Dialled(seq=0, upstream=upstream, peer_port=port, refused=refused)


def probed(connection: int, status: int = 200) -> AnyEntry:
    return Probed(seq=0, connection=connection, upstream=0, method="GET", target="/health", status=status)


def rejected(connection: int, *, body_bytes: int | None = None) -> AnyEntry:
    """body_bytes: of a whole request."""
    return Rejected(seq=0, connection=connection, upstream=0, status=400, why="no request", body_bytes=body_bytes)


def marked(mark: str) -> AnyEntry:
    return Marked(seq=0, mark=mark)


def served(
    exchange: int, execution: int, operation: int | None = OP, *, upstream: int = 0, of: int = 1, status: int = 200
) -> tuple[AnyEntry, ...]:
    """An exchange that nothing goes wrong with: five entries."""
    return (
        received(exchange, operation, upstream=upstream, of=of),
        accepted(exchange),
        executed(exchange, execution),
        replying(exchange, status),
        replied(exchange),
    )


def steps(*groups: Sequence[AnyEntry]) -> list[AnyEntry]:
    """Entries in groups, for the eye."""
    return [entry for group in groups for entry in group]


def numbered(entries: Sequence[AnyEntry]) -> tuple[AnyEntry, ...]:
    """The entries with their places as seqs."""
    return tuple(msgspec.structs.replace(entry, seq=place) for place, entry in enumerate(entries, start=1))


HEALED = (marked("settled"), marked("healed"), opened(90), *served(90, 90, FRESH))


def result_body(operation: int, execution: int) -> bytes:
    return body_of(Content.RESULT, operation, execution, 1)[1]


def ok(operation: int = OP, execution: int = 1, *, body: bytes | None = None) -> Outcome:
    """A success that holds that execution's result, as bytes and as tokens and text; or these bytes."""
    return Outcome(
        operation=operation,
        kind=Kind.OK,
        arrival=Arrival.WHOLE,
        status=200,
        body=result_body(operation, execution) if body is None else body,
        tokens=tuple(result_tokens(operation, execution, 0)) if body is None else None,
        text=result_text(operation, execution, 0) if body is None else None,
    )


def lost(operation: int = OP, status: int | None = 502, arrival: Arrival = Arrival.WHOLE, body: bytes = b"") -> Outcome:
    """A failure that claims nothing about having run."""
    return Outcome(operation=operation, kind=Kind.UNKNOWN, arrival=arrival, status=status, body=body)


def failed(operation: int = OP) -> Outcome:
    """A failure that claims "not executed"."""
    return Outcome(operation=operation, kind=Kind.FAILED, arrival=Arrival.WHOLE, status=503)


def hung(operation: int = OP) -> Outcome:
    return lost(operation, None, Arrival.HUNG)


def planned(*faults: str, reused: bool = False, listeners: Sequence[PlannedListener] = (), upstreams: int = 2) -> Plan:
    """A plan of one operation."""
    operation = PlannedOperation(faults=faults, reused=reused)
    ids = (*faults, *(listener.fault for listener in listeners))
    tls = any(needs_tls(fault_named(id_).act) for id_ in ids)
    return Plan(operations=(operation,), listeners=tuple(listeners), upstreams=upstreams, tls=tls)


def held(fault: str, upstream: int | None = 0) -> Plan:
    """A plan of one operation with one faulty upstream of two, or (None) with both."""
    return planned(listeners=[PlannedListener(fault=fault, upstream=upstream)])


def run(
    plan: Plan,
    entries: Sequence[AnyEntry],
    *outcomes: Outcome,
    subject: SubjectFacts = SERVER,
    late: Sequence[AnyEntry] = (),
    settled: bool = True,
    died: str | None = None,
) -> Run:
    """A run that healed well: the entries, the fresh operation, then what came late."""
    return Run(
        plan=plan,
        subject=subject,
        operations=tuple(range(OP, OP + len(plan.operations))),
        fresh=(FRESH,),
        ledger=numbered([*entries, *HEALED, *late]),
        history=(*outcomes, ok(FRESH, 90)),
        sockets=Sockets(warm=2, healed=2),
        settled=settled,
        died=died,
    )


def said_of(run: Run) -> tuple[Verdict | None, dict[str, Verdict]]:
    """The verdict, and every check that says something other than PASS."""
    judgement = judge(run)
    findings = [finding for finding in judgement.findings if finding.verdict is not Verdict.PASS]
    assert not any("the check crashed" in finding.says for finding in findings), findings
    said = {finding.check: max(f.verdict for f in findings if f.check == finding.check) for finding in findings}
    return judgement.verdict, said


def explain(run: Run) -> str:
    """All findings, for the message of a test that fails."""
    return "\n".join(f"{f.check} {f.verdict.name}: {f.says} {f.entries}" for f in judge(run).findings)
