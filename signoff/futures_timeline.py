"""The timeline of one script: what its callers did and saw, and what the router did, in order of the clock."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from fake_router.entries import Marked, Opened, Probed
from signoff.timeline import describe
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
    Landed,
    Left,
    Reached,
    Record,
    Silent,
    Submitted,
)
from suites.futures.record import Opened as SessionOpened


@dataclass(frozen=True, slots=True, kw_only=True)
class FactLine:
    """One line: the place of its step, the server's clock since the first fact, and what happened on either side."""

    at_ns: int
    step: str = ""
    clock: str = ""
    caller: str = ""
    router: str = ""


def futures_timeline(record: Record) -> tuple[FactLine, ...]:
    """Every fact but the server's counts, and every entry of the router that is about an operation."""
    lines = [*_facts(record), *_entries(record)]
    return tuple(sorted(lines, key=lambda line: line.at_ns))


def _facts(record: Record) -> Iterator[FactLine]:
    first_ms = record.facts[0].now_ms if record.facts else 0
    for fact in record.facts:
        if not isinstance(fact, Counted):
            clock = str(fact.now_ms - first_ms)
            yield FactLine(at_ns=fact.at_ns, step=str(fact.step), clock=clock, caller=_in_words(fact))


def _entries(record: Record) -> Iterator[FactLine]:
    for entry in record.ledger:
        if not isinstance(entry, Opened | Probed | Marked):
            yield FactLine(at_ns=entry.at_ns, router=describe(entry))


def _in_words(fact: AnyFact) -> str:
    match fact:
        case SessionOpened():
            return f"session {fact.session} opened" if fact.sampling_session else f"session refused: {fact.says}"
        case Beaten():
            return f"heartbeat of session {fact.session}: {fact.status}"
        case Submitted():
            return _submit(fact)
        case Asked():
            whose = "an id that nobody was given" if fact.operation is None else f"operation {fact.operation}"
            return f"poll {fact.poll} for {whose} ({fact.request_id[:40]})"
        case Reached():
            return f"poll {fact.poll}: its reply has come"
        case Answered():
            return f"poll {fact.poll}: {_answer(fact.answer)}"
        case Left():
            return f"poll {fact.poll}: its caller leaves ({fact.how}{', while it lands' if fact.crossing else ''})"
        case Silent():
            return f"poll {fact.poll}: nothing has come"
        case Landed():
            return f"operation {fact.operation} has landed"
        case Ended():
            return f"the server was {'killed' if fact.killed else 'told to end'}, and {fact.how or 'did not end'}"
        case Began():
            return f"a server answers again, {'on what was stored' if fact.kept else 'which knows nothing'}"
        case Disturbed():
            return f"the container of the router is struck: {fact.how}"
        case Calmed():
            return f"the container of the router serves again{'' if fact.seen else ', and was not struck until then'}"
        case Broke():
            return f"it broke down: {fact.says}"
        case Hung():
            return f"the server hangs: {fact.says}"
        case Counted():
            return ""
        case _:
            assert_never(fact)


def _submit(fact: Submitted) -> str:
    what = f"operation {fact.operation} submitted{' again' if fact.again else ''}"
    what += f", with another {fact.other}" if fact.other else ""
    return f"{what}: " + (f"its reply is lost ({fact.lost})" if fact.answer is None else _answer(fact.answer))


def _answer(answer: Answer) -> str:
    named = f" of number {answer.operation}, execution {answer.execution}" if answer.operation else ""
    says = f": {answer.says}" if answer.says else ""
    return f"{answer.status or ''} {answer.kind}{named} {answer.request_id}{says}".strip()
