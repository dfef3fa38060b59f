"""Records of scripts as literals: short words for facts and entries, and the records that are made of them.

Operation 0 carries number 1001, operation 1 number 1002; other content under their keys 2001 and 2002. A fact's step is
its place. Time stands still until `at` says otherwise.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from fake_router.entries import Accepted, AnyEntry, Executed, Marked, Received, Replied, Replying, Striking
from faults.disturbance import Disturbing
from suites.futures.offer import Terms
from suites.futures.record import (
    Answer,
    Answered,
    AnyFact,
    Asked,
    Beaten,
    Began,
    Broke,
    Calmed,
    Counted,
    Disturbed,
    Ended,
    Hung,
    Kind,
    Landed,
    Left,
    Opened,
    Reached,
    Record,
    Silent,
    Submitted,
)
from suites.futures.script import script_of
from suites.futures.steps import Loss, Open, Other
from suites.tinker.open_call import Departure

TERMS = Terms(hold_ms=100, retrieved_ms=100, undelivered_ms=1_000, session_ms=500)
NUMBERS = (1001, 1002)
OTHERS = (2001, 2002)

OPENED = Opened(step=0, session=0, sampling_session="s")
RESULT = Answer(kind=Kind.RESULT, status=200, body=b"one", operation=1001, execution=1)
AS_JSON = Answer(kind=Kind.RESULT, status=200, body=b"{}", operation=1001, execution=1, json=True)
FAILED = Answer(kind=Kind.FAILED, status=200, body=b"{}", says="it broke", executed="unknown")
NOT_RUN = Answer(kind=Kind.FAILED, status=200, body=b"{}", says="refused", executed="no")
AGAIN = Answer(kind=Kind.TRY_AGAIN, status=408)
GONE = Answer(kind=Kind.GONE, status=404, says="delivered and evicted")
NOTHING = Answer(kind=Kind.NOTHING, says="EOF")
BUSY = Answer(kind=Kind.BUSY, status=429, says="full")
REFUSED = Answer(kind=Kind.REFUSED, status=422, says="other content")


def taken(request_id: str = "70") -> Answer:
    return Answer(kind=Kind.TAKEN, status=200, request_id=request_id)


def submit(answer: Answer | None = None, operation: int = 0, *, lost: Loss | None = None) -> AnyFact:
    given = None if lost else answer or taken(f"7{operation}")
    return Submitted(step=0, operation=operation, session=0, number=NUMBERS[operation], answer=given, lost=lost)


def resubmit(answer: Answer, operation: int = 0, other: Other | None = None) -> AnyFact:
    number = OTHERS[operation] if other is Other.PROMPT else NUMBERS[operation]
    return Submitted(step=0, operation=operation, session=0, number=number, answer=answer, again=True, other=other)


def ask(poll: int = 0, operation: int | None = 0, request_id: str = "") -> AnyFact:
    return Asked(step=0, poll=poll, operation=operation, request_id=request_id or f"7{operation}")


def reached(poll: int = 0) -> AnyFact:
    return Reached(step=0, poll=poll)


def read(answer: Answer, poll: int = 0) -> AnyFact:
    return Answered(step=0, poll=poll, answer=answer)


def silent(poll: int = 0) -> AnyFact:
    return Silent(step=0, poll=poll)


def left(how: Departure = Departure.FIN, poll: int = 0, *, crossing: bool = False) -> AnyFact:
    return Left(step=0, poll=poll, how=how, crossing=crossing)


def landed(operation: int = 0) -> AnyFact:
    return Landed(step=0, operation=operation)


def counted(waiting: int = 0, *, stored_bytes: int = 0) -> AnyFact:
    return Counted(
        step=0,
        waiting={"70": waiting} if waiting else {},
        in_flight=0,
        undelivered=0,
        delivered=0,
        evicted=0,
        stored_bytes=stored_bytes,
    )


def beaten(status: int = 200) -> AnyFact:
    return Beaten(step=0, session=0, status=status)


def ended(how: str = "exited with code 0", *, killed: bool = False) -> AnyFact:
    return Ended(step=0, killed=killed, how=how)


def began(*, kept: bool) -> AnyFact:
    return Began(step=0, kept=kept)


def disturbed(how: Disturbing = Disturbing.KILL) -> AnyFact:
    return Disturbed(step=0, how=how)


def calmed(how: Disturbing = Disturbing.KILL, *, seen: bool = True) -> AnyFact:
    return Calmed(step=0, how=how, seen=seen)


def broke() -> AnyFact:
    return Broke(step=0, says="it was not quiet")


def hung() -> AnyFact:
    return Hung(step=0, says="it has not come to rest")


def at(now_ms: int, fact: AnyFact) -> AnyFact:
    """That fact, at that time of the server's clock."""
    return msgspec.structs.replace(fact, now_ms=now_ms)


def served(operation: int = 0, *, exchange: int = 1, number: int = 0) -> tuple[AnyEntry, ...]:
    """An exchange that was executed, and answered well."""
    return (
        *received(operation, exchange=exchange, number=number),
        Accepted(seq=0, exchange=exchange),
        Executed(seq=0, exchange=exchange, execution=exchange),
        Replying(seq=0, exchange=exchange, status=200, of_bytes=10),
        Replied(seq=0, exchange=exchange, bytes_sent=10, whole=True),
    )


def received(operation: int = 0, *, exchange: int = 1, number: int = 0) -> tuple[AnyEntry, ...]:
    return (
        Received(
            seq=0,
            exchange=exchange,
            connection=exchange,
            upstream=0,
            nth=1,
            operation=number or NUMBERS[operation],
        ),
    )


def struck(exchange: int = 1) -> tuple[AnyEntry, ...]:
    return (Striking(seq=0, fault="500-after", upstream=0, exchange=exchange),)


def restarted() -> tuple[AnyEntry, ...]:
    return (Marked(seq=0, mark="restarted"),)


def record(*facts: AnyFact, ledger: tuple[AnyEntry, ...] = (), clock: bool = True, max_bytes: int = 0) -> Record:
    """These facts after the opening of a session, each at the time of the one before it unless it says more."""
    placed: list[AnyFact] = []
    now_ms = 0
    for step, fact in enumerate((OPENED, *facts)):
        now_ms = max(now_ms, fact.now_ms)
        placed.append(msgspec.structs.replace(fact, step=step, now_ms=now_ms))
    numbered = tuple(msgspec.structs.replace(entry, seq=seq) for seq, entry in enumerate(ledger, start=1))
    return Record(
        script=script_of((Open(),), max_bytes=max_bytes),
        terms=msgspec.structs.replace(TERMS, clock=clock),
        facts=tuple(placed),
        ledger=numbered,
        numbers=NUMBERS,
    )


Make = Callable[..., Any]
