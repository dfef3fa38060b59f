"""On a shared ledger an entry belongs to the run whose operation it carries, however late it comes."""

from fake_router.entries import (
    Accepted,
    AnyEntry,
    Executed,
    Marked,
    Opened,
    Received,
    Sighted,
    Striking,
    Struck,
    Witness,
)
from suites.ownership import own_entries

LEDGER: tuple[AnyEntry, ...] = (
    Marked(seq=1, mark="armed"),
    Received(seq=2, exchange=1, connection=1, upstream=0, nth=1, operation=10),
    Accepted(seq=3, exchange=1),
    Marked(seq=4, mark="settled"),
    Marked(seq=5, mark="armed"),
    Opened(seq=6, connection=2, upstream=0, peer_port=5),
    Received(seq=7, exchange=2, connection=2, upstream=0, nth=1, operation=20),
    Striking(seq=8, fault="reset-after", upstream=0, connection=2, exchange=2, operation=20),
    Received(seq=9, exchange=3, connection=1, upstream=0, nth=2, operation=10),  # late: a ghost of the first run
    Executed(seq=10, exchange=3, execution=1),
    Struck(seq=11, striking=8, witness=Witness.ACT),
    Marked(seq=12, mark="settled"),
    Sighted(seq=13, upstream=0, peer_port=6, operation=10, probe=False, request_bytes=300),  # and another
    Sighted(seq=14, upstream=0, peer_port=7, operation=None, probe=True, request_bytes=60),
)
FIRST, SECOND = range(4), range(4, 14)


def _seqs(entries: tuple[AnyEntry, ...]) -> list[int]:
    return [entry.seq for entry in entries]


def test_a_late_entry_stays_with_its_operation() -> None:
    """The ghost and its execution are the first run's, though they came in the second's window."""
    assert _seqs(own_entries(LEDGER, FIRST, frozenset({10}))) == [1, 2, 3, 4, 9, 10, 13]


def test_what_carries_no_operation_belongs_to_the_window() -> None:
    """Marks and connections are the run's in whose time they fell; a strike goes with its exchange."""
    assert _seqs(own_entries(LEDGER, SECOND, frozenset({20}))) == [5, 6, 7, 8, 11, 12, 14]


def test_every_entry_belongs_to_exactly_one_run() -> None:
    """Nothing is counted twice and nothing is lost."""
    first = own_entries(LEDGER, FIRST, frozenset({10}))
    second = own_entries(LEDGER, SECOND, frozenset({20}))
    assert sorted(_seqs(first) + _seqs(second)) == _seqs(LEDGER)
