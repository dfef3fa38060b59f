"""The timeline of a literal run: caller and router in order of the clock, neighbours joined, others left out."""

import pytest

from fake_router.entries import (
    Accepted,
    AnyEntry,
    Closed,
    Dialled,
    EndedBy,
    Executed,
    Greeted,
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
from faults.plan import Plan, PlannedOperation
from signoff.timeline import Line, timeline, told
from suites.history import Arrival, Kind, Outcome
from suites.run import Promise, Run, SubjectFacts

MS = 1_000_000
FACTS = SubjectFacts(name="mine", promises=Promise.TRANSPARENT)


def outcome(operation: int, began_ms: int, ended_ms: int, says: str = "", kind: Kind = Kind.OK) -> Outcome:
    """What one caller saw, and when."""
    return Outcome(
        operation=operation,
        kind=kind,
        arrival=Arrival.WHOLE,
        status=200,
        says=says,
        invoked_at_ns=began_ms * MS,
        ended_at_ns=ended_ms * MS,
    )


def lived(*ledger: AnyEntry, history: tuple[Outcome, ...] = ()) -> Run:
    """A run of operation 7, after warm-up 5 and before the fresh 9."""
    plan = Plan(operations=(PlannedOperation(faults=("502-after",)),))
    return Run(plan=plan, subject=FACTS, operations=(7,), warmups=(5,), fresh=(9,), ledger=ledger, history=history)


def received(seq: int, at_ms: int, operation: int, exchange: int) -> Received:
    """One request."""
    return Received(seq=seq, at_ns=at_ms * MS, exchange=exchange, connection=1, upstream=0, nth=1, operation=operation)


def seen(lines: tuple[Line, ...]) -> list[tuple[int, tuple[int, ...], str, str]]:
    """Milliseconds, entries, and both sides."""
    return [(line.at_ns // MS, line.entries, line.caller, line.router) for line in lines]


def test_both_sides_are_told_in_order_of_the_clock() -> None:
    """From the first event on; what the router does at once for one exchange is one line."""
    run = lived(
        Marked(seq=1, at_ns=10 * MS, mark="armed"),
        Opened(seq=2, at_ns=12 * MS, connection=1, upstream=0, peer_port=99),
        received(3, 13, operation=7, exchange=1),
        Accepted(seq=4, at_ns=13 * MS, exchange=1),
        Executed(seq=5, at_ns=13 * MS, exchange=1, execution=1),
        Striking(seq=6, at_ns=14 * MS, fault="502-after", upstream=0, connection=1, exchange=1, operation=7),
        Replying(seq=7, at_ns=14 * MS, exchange=1, status=502, of_bytes=9),
        Replied(seq=8, at_ns=14 * MS, exchange=1, bytes_sent=9, whole=True),
        Struck(seq=9, at_ns=14 * MS, striking=6, witness=Witness.ACT),
        history=(outcome(7, 11, 20),),
    )
    assert seen(timeline(run)) == [
        (0, (1,), "", "-- armed --"),
        (1, (), "operation 7 ->", ""),
        (
            3,
            (3, 4, 5),
            "",
            "exchange 1: operation 7 received on upstream 0 (connection 1), accepted, EXECUTED (execution 1)",
        ),
        (4, (6,), "", "strike: 502-after on upstream 0, connection 1"),
        (4, (7, 8), "", "exchange 1: answering 502, 9 bytes sent"),
        (4, (9,), "", "strike: struck, witness act"),
        (10, (), "operation 7: ok 200 (whole)", ""),
    ]


@pytest.mark.parametrize(
    ("second", "joined"),
    [
        (Accepted(seq=2, at_ns=10 * MS + 999_999, exchange=1), True),
        (Accepted(seq=2, at_ns=11 * MS, exchange=1), False),  # what took its time is a line of its own
        (received(2, 10, operation=7, exchange=2), False),  # another exchange
    ],
)
def test_only_neighbours_about_the_same_thing_at_the_same_time_are_joined(second: AnyEntry, joined: bool) -> None:
    """A joined line would hide when something happened, or to which exchange."""
    lines = timeline(lived(received(1, 10, operation=7, exchange=1), second))
    assert [line.entries for line in lines] == ([(1, 2)] if joined else [(1,), (2,)])


def test_a_strike_is_joined_to_its_own_witness_alone() -> None:
    """A witness beside another strike keeps its line."""
    first = Striking(seq=1, fault="unread-late", upstream=None)
    own = Struck(seq=2, striking=1, witness=Witness.SK_DROPS, count=3)
    other = Struck(seq=2, striking=9, witness=Witness.ACT)
    assert [line.router for line in timeline(lived(first, own))] == [
        "strike: unread-late on every upstream, struck, 3 times, witness sk_drops"
    ]
    assert len(timeline(lived(first, other))) == 2


def test_what_belongs_to_others_is_left_out() -> None:
    """Warm-up, probes and opened connections; what carries no operation stays, since it may be ours."""
    run = lived(
        received(1, 1, operation=5, exchange=1),
        Executed(seq=2, at_ns=1 * MS, exchange=1, execution=1),
        Opened(seq=3, at_ns=2 * MS, connection=2, upstream=1, peer_port=99),
        Probed(seq=4, at_ns=2 * MS, connection=2, upstream=1, method="GET", target="/health", status=200),
        Unserved(seq=5, at_ns=3 * MS, connection=2, upstream=1, operation=None, request_bytes=40),
        Unserved(seq=6, at_ns=3 * MS, connection=3, upstream=1, operation=5, request_bytes=40),
        Dialled(seq=7, at_ns=4 * MS, upstream=0, peer_port=1, refused=True),
        Dialled(seq=8, at_ns=5 * MS, upstream=0, peer_port=1, refused=False),
        Rejected(seq=9, at_ns=6 * MS, connection=2, upstream=1, status=400, why="no prompt"),
        Closed(seq=10, at_ns=7 * MS, connection=2, by=EndedBy.ROUTER_RESET),
        Greeted(seq=11, at_ns=8 * MS, connection=3, server_name="localhost"),
        Greeted(seq=12, at_ns=9 * MS, connection=4, server_name=None),
        history=(outcome(5, 0, 2), outcome(4, 0, 9)),
    )
    assert [line.router for line in timeline(run)] == [
        "40 bytes on connection 2 never served",
        "dial of upstream 0 refused",
        "dial of upstream 0 dropped",
        "rejected with 400: no prompt",
        "connection 2 ended by router-reset",
        "connection 3 begins TLS, and asks for 'localhost'",
        "connection 4 begins TLS, and asks for nobody by name",
    ]


def test_what_came_after_healing_is_marked_and_a_ghost_is_not() -> None:
    """The fresh operation is the check after healing; a late sending of the plan's own operation is not."""
    run = lived(
        Marked(seq=1, at_ns=1 * MS, mark="healed"),
        received(2, 2, operation=9, exchange=1),
        received(3, 3, operation=7, exchange=2),
        Marked(seq=4, at_ns=4 * MS, mark="settled"),
        history=(outcome(7, 0, 5), outcome(9, 2, 6)),
    )
    assert [(line.at_ns // MS, line.after) for line in timeline(run)] == [
        (0, False),  # the plan's operation
        (1, False),  # healed
        (2, True),  # the fresh operation, called
        (2, True),  # and received
        (3, False),  # the ghost
        (4, True),  # settled again
        (5, False),
        (6, True),
    ]


def test_what_callers_were_told_is_one_line_each() -> None:
    """In the subject's words; silence is not quoted, nor what others were told."""
    history = (outcome(7, 0, 1, says="gave up:\n  no router"), outcome(5, 0, 1, says="warm"), outcome(9, 0, 1))
    assert told(lived(history=history)) == ("operation 7: gave up: no router",)
    assert told(lived(history=(outcome(7, 0, 1),))) == ()


def test_an_empty_run_has_an_empty_timeline() -> None:
    """As of an item that was not run."""
    assert timeline(lived()) == ()
