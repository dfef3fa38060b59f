"""What the matrix teaches follows from its rows: each lesson from a row that teaches it, and from no other."""

import msgspec
import pytest

from faults.catalogue import CATALOGUE
from faults.vocabulary import Class, Sight
from signoff.evidence_findings import findings_of
from signoff.evidence_words import cannot_of, cell_of, words_of
from suites.evidence.cases import How
from suites.evidence.got import HANGS, Got, Holds
from suites.evidence.matrix import Matrix, Row
from suites.evidence.scene import Seen

CUT, STATUS, REFUSED, RESET = (
    next(fault.id for fault in CATALOGUE.values() if fault.evidence.sight is sight)
    for sight in (Sight.CUT, Sight.STATUS, Sight.REFUSED, Sight.RESET)
)
FAILED = Got(error=("c.Error", "OSError"), reason="ECONNRESET")
ANSWERED = Got(status=503, holds=Holds.AS_SENT, body_bytes=2)
RESULT = Got(status=200, holds=Holds.RESULT)


def titles(*rows: Row) -> list[str]:
    """Of what these rows teach."""
    return [finding.title for finding in findings_of(Matrix(python="3", clients={"c": "1"}, rows=rows))]


def row(fault: str, seen: Seen, *, how: How = How.FIRST) -> Row:
    """A literal one."""
    return Row(fault=fault, client="c", how=how, seen=(seen,))


@pytest.mark.parametrize(
    ("title", "teaches", "does_not"),
    [
        (
            "A success that is none",
            row(CUT, Seen(got=Got(status=200, holds=Holds.NOTHING))),
            row(CUT, Seen(got=FAILED)),
        ),
        (
            "A success that is none",
            row(RESET, Seen(got=Got(status=200, holds=Holds.PART))),
            row(RESET, Seen(got=RESULT, sent=2)),
        ),
        ("Nothing, for ever", row(CUT, Seen(got=Got(status=200, error=(HANGS,)))), row(CUT, Seen(got=FAILED))),
        ("An answer lost", row(STATUS, Seen(got=FAILED)), row(STATUS, Seen(got=ANSWERED))),
        (
            "POSTs sent again unasked",
            row(STATUS, Seen(got=ANSWERED, sent=2)),
            row(STATUS, Seen(got=ANSWERED, sent=None)),
        ),
        (
            "GETs sent again unasked",
            row(RESET, Seen(got=FAILED, sent=2), how=How.GET),
            row(RESET, Seen(got=FAILED, sent=1), how=How.GET),
        ),
        ("Executed more than once", row(STATUS, Seen(got=ANSWERED, ran=2)), row(STATUS, Seen(got=ANSWERED, ran=1))),
        ("The next request fails", row(CUT, Seen(got=FAILED, then=FAILED)), row(CUT, Seen(got=FAILED, then=RESULT))),
        (
            "Another's answer",
            row(CUT, Seen(got=FAILED, then=Got(status=200, holds=Holds.ANOTHERS, body_bytes=9))),
            row(CUT, Seen(got=FAILED, then=FAILED)),
        ),
        (
            "An interim answer taken for the final one",
            row(CUT, Seen(got=Got(status=102, holds=Holds.NOTHING))),
            row(CUT, Seen(got=Got(status=102, error=("c.Error",)))),
        ),
        (
            "No errno",
            row(REFUSED, Seen(got=msgspec.structs.replace(FAILED, reason=""))),
            row(REFUSED, Seen(got=FAILED)),
        ),
    ],
)
def test_a_lesson_is_taught_by_its_rows_alone(title: str, teaches: Row, does_not: Row) -> None:
    """A row with the fact, and one without it."""
    assert titles(teaches) == [title]
    assert title not in titles(does_not)


def test_an_exception_that_means_both_is_named() -> None:
    """Raised where a retry is safe and where it is not: the class decides nothing."""
    assert {CATALOGUE[REFUSED].class_under(), CATALOGUE[RESET].class_under()} == {Class.SAFE, Class.AMBIGUOUS}
    assert titles(row(REFUSED, Seen(got=FAILED)), row(RESET, Seen(got=FAILED))) == ["The same exception for both"]
    other = msgspec.structs.replace(FAILED, error=("c.Other",))
    assert titles(row(REFUSED, Seen(got=FAILED)), row(RESET, Seen(got=other))) == []


@pytest.mark.parametrize(
    ("got", "words"),
    [
        (RESULT, "200, its result"),
        (ANSWERED, "503, the answer as sent (2 bytes)"),
        (Got(status=200, holds=Holds.NOTHING), "200, empty"),
        (FAILED, "c.Error < OSError, ECONNRESET"),
        (Got(status=200, error=("c.Error",)), "200, then c.Error"),
        (Got(status=200, error=("c.Error",), events="1 event"), "200, 1 event, then c.Error"),
        (Got(status=200, holds=Holds.PART, events="1 event"), "200, part of its result (1 event)"),
    ],
)
def test_what_was_seen_is_said_in_words(got: Got, words: str) -> None:
    """An answer by status and content, an error by its class, first cause and reason."""
    assert words_of(got) == words


def test_two_ways_that_show_the_same_are_said_once() -> None:
    """And a harm to the next request is never hidden."""
    harmed = row(CUT, Seen(got=FAILED, then=FAILED))
    assert cell_of(harmed, row(CUT, Seen(got=FAILED, then=FAILED), how=How.REUSED)) == "same"
    assert "next: c.Error" in cell_of(harmed, row(CUT, Seen(got=FAILED), how=How.REUSED))
    assert cell_of(None) == "-"


def test_what_a_client_cannot_is_said_with_its_reason() -> None:
    """Once a reason, and it teaches nothing."""
    rows = [
        Row(fault=fault, client=client, how=How.FIRST, seen=(), cannot="why")
        for fault in (CUT, STATUS)
        for client in "dc"
    ]
    assert cell_of(rows[0]) == "cannot"
    assert cannot_of([*rows, row(RESET, Seen(got=FAILED))]) == [("why", ["c", "d"], sorted((CUT, STATUS)))]
    assert titles(*rows) == []
