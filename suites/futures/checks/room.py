"""What is kept is bounded: what does not fit is refused before it is taken."""

from suites.checks.words import count_of
from suites.findings import Finding
from suites.futures.checks.check import must
from suites.futures.record import Counted, Kind, Record, Submitted


def bounded(record: Record) -> list[Finding]:
    """Judged where somebody was refused: else nothing shows that there is a bound. The bytes are the server's own
    count.
    """
    most = record.script.max_bytes
    refused = [
        fact
        for fact in record.facts
        if isinstance(fact, Submitted) and fact.answer is not None and fact.answer.kind is Kind.BUSY
    ]
    over = [fact for fact in record.facts if isinstance(fact, Counted) and fact.stored_bytes > most > 0]
    if over:
        return [BOUNDED.fails(f"step {over[0].step}: {over[0].stored_bytes} bytes are kept; expected at most {most}")]
    return [BOUNDED.passes(f"{count_of(len(refused), 'submit')} refused for want of room")] if refused else []


BOUNDED = must(
    "bounded",
    "What is kept stays within its bounds: a submit for which there is no room is told to come back.",
    bounded,
    needs_room=True,
)
