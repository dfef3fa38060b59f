"""The ledger: numbered, append-only, and the same after a way through JSON lines."""

from typing import get_args

import pytest

from fake_router.entries import (
    AnyEntry,
    Closed,
    Dialled,
    EndedBy,
    Marked,
    Opened,
    Received,
    Rejected,
    Struck,
    Unserved,
    Witness,
)
from fake_router.ledger import Ledger, LedgerError, dump, load


def _full() -> Ledger:
    ledger = Ledger()
    ledger.record(Opened, connection=1, upstream=0, peer_port=40_000)
    ledger.record(Received, exchange=1, connection=1, upstream=0, nth=1, operation=None, of_operation=1, body_bytes=7)
    ledger.record(Struck, striking=2, witness=Witness.SK_DROPS, count=3)
    ledger.record(Unserved, connection=1, upstream=0, operation=9, request_bytes=4)
    ledger.record(Dialled, upstream=1, peer_port=40_001, refused=True)
    ledger.record(Rejected, connection=1, upstream=0, status=400, why='"quoted"\n\u2028')
    ledger.record(Closed, connection=1, by=EndedBy.ROUTER_RESET)
    ledger.record(Marked, mark="settled")
    return ledger


def test_entries_are_numbered_from_1_and_never_go_back_in_time() -> None:
    entries = _full().since()
    assert [entry.seq for entry in entries] == list(range(1, 9))
    times = [entry.at_ns for entry in entries]
    assert times == sorted(times)
    assert times[0] > 0


def test_since_gives_the_entries_above_a_number() -> None:
    ledger = _full()
    assert [entry.seq for entry in ledger.since(6)] == [7, 8]
    assert ledger.since(8) == ledger.since(99) == ()
    assert ledger.since(-1) == ledger.since(0) == tuple(ledger)
    assert len(ledger) == 8


def test_record_returns_the_number_and_refuses_facts_that_the_kind_lacks() -> None:
    ledger = Ledger()
    assert ledger.record(Marked, mark="armed") == 1
    with pytest.raises(TypeError, match="colour"):
        ledger.record(Marked, mark="armed", colour="red")
    assert len(ledger) == 1


def test_an_entry_made_elsewhere_is_appended_only_under_the_next_number() -> None:
    ledger = _full()
    told: list[int] = []
    ledger.on_record(lambda: told.append(len(ledger)))
    for seq in (0, 8, 10):
        with pytest.raises(ValueError, match=rf"seq {seq}; expected 9,"):
            ledger.append(Marked(seq=seq, mark="healed"))
    assert ledger.append(Marked(seq=ledger.next_seq, mark="healed")) == len(ledger) == 9
    assert ledger.record(Marked, mark="settled") == 10
    assert told == [9, 10]


def test_every_kind_of_entry_has_a_tag_of_its_own() -> None:
    tags = [kind.__struct_config__.tag for kind in get_args(AnyEntry)]
    assert len(tags) == len(set(tags)) == 17


def test_a_way_through_json_lines_changes_nothing() -> None:
    entries = _full().since()
    data = dump(entries)
    assert load(data) == load(data.decode()) == entries
    assert dump(load(data)) == data
    assert data.count(b"\n") == len(entries) + 1


def test_a_part_of_a_ledger_keeps_its_numbers() -> None:
    entries = _full().since(5)
    assert load(dump(entries)) == entries


_LINE = b'{"entry":"Marked","seq":1,"at_ns":1,"mark":"x"}\n'


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", r"line 1 is ''; expected \{\"schema\":1\}"),
        (_LINE, "line 1"),
        (b'{"schema":2}\n', "line 1 says schema 2; this version reads 1"),
        (b'{"schema":1}\nnonsense\n', "line 2 is 'nonsense'; expected one entry"),
        (b'{"schema":1}\n' + _LINE + b'{"entry":"Fnord","seq":2}\n', "line 3 .*Fnord"),
        (b'{"schema":1}\n{"entry":"Marked","seq":1}\n', "line 2 .*mark"),
        (b'{"schema":1}\n{"entry":"Closed","seq":1,"connection":1,"by":"moon"}\n', "line 2 .*moon"),
        (b'{"schema":1}\n' + _LINE + _LINE, "line 3 has seq 1 after 1"),
        (b'{"schema":1}\n' + _LINE[:-10], "line 2"),
        (b'{"schema":1}\n\xff\xfe\n', "line 2"),
    ],
)
def test_what_is_no_ledger_is_refused_with_the_line(data: bytes, says: str) -> None:
    with pytest.raises(LedgerError, match=says):
        load(data)
