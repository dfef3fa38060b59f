"""The committed matrix says what the installed clients show; and the reference concludes nothing unsafe from it."""

import os
from pathlib import Path

import pytest

from faults.catalogue import CATALOGUE
from faults.evidence import REFERENCE_CONTRACT
from faults.vocabulary import Class, Ending, Sight
from forwarder.evidence import TABLE, Kind, Proves
from signoff.evidence_page import page_of
from suites.evidence.cases import Case, How, all_cases
from suites.evidence.clients import CLIENTS
from suites.evidence.matrix import JSON_NAME, PAGE_NAME, Row, dump_matrix, load_matrix
from suites.evidence.observing import installed_clients, observed, pairs_of, python_version
from suites.evidence.scene import Seen
from suites.reach import Machine

DOCS = Path(__file__).parent.parent / "docs"
AGAIN = "run `retryproof evidence --write docs --own-network`, and read what has changed"
MATRIX = load_matrix((DOCS / JSON_NAME).read_bytes())
RECORDED = {(row.fault, row.client, row.how): row for row in MATRIX.rows}
REFERENCE_ROWS = [row for row in MATRIX.rows if row.client == "reference" and row.fault in CATALOGUE]
HERE = Machine.here()
CASES: dict[tuple[str, How], Case] = {(case.fault.id, case.how): case for case in all_cases()}


@pytest.fixture(scope="module")
def now() -> dict[str, list[Row]]:
    """What each client that is installed shows now, once for each case that is recorded."""
    clients, _, _ = installed_clients(list(CLIENTS))
    pairs = [
        (client, case)
        for client, case in pairs_of(clients, list(CASES.values()))
        if (case.fault.id, client.name, case.how) in RECORDED and HERE.lacks_for(case.fault.act) is None
    ]
    rows: dict[str, list[Row]] = {client.name: [] for client in clients}
    for row in observed(pairs, repeats=1):
        assert isinstance(row, Row), row
        rows[row.client].append(row)
    return rows


def test_every_fault_of_the_catalogue_has_its_rows() -> None:
    """For every client, in every way; and no row is of a fault that is gone."""
    expected = {
        (case.fault.id, client.name, case.how) for client, case in pairs_of(list(CLIENTS.values()), [*CASES.values()])
    }
    lacking, gone = expected - RECORDED.keys(), RECORDED.keys() - expected
    assert not lacking, f"{len(lacking)} rows are missing, e.g. {min(lacking)}; {AGAIN}"
    assert not gone, f"{len(gone)} rows are of nothing that exists, e.g. {min(gone)}; {AGAIN}"


@pytest.mark.parametrize("client", CLIENTS)
def test_an_installed_client_shows_what_is_recorded(client: str, now: dict[str, list[Row]]) -> None:
    """All of it in the recorded version; in another, whether it succeeds, how often it sends, how often it runs.

    Over TLS a client shows what Python's ssl shows, which has changed between patch versions (a reset that was an EOF).
    """
    if client not in now:
        assert "RETRYPROOF_NO_SKIP" not in os.environ, f"{client} is not installed; pip install 'retryproof[test]'"
        pytest.skip(f"{client} is not installed")
    same_client = CLIENTS[client].version() == MATRIX.clients[client]
    same_python = python_version() == MATRIX.python
    wrong = [
        f"{row.fault} ({row.how}): {row.cannot or row.seen[0]}"
        for row in now[client]
        if not _agrees(row, exactly=same_client and (same_python or not CASES[row.fault, row.how].plan.tls))
    ]
    possible = {fault for fault, _ in CASES if HERE.lacks_for(CATALOGUE[fault].act) is None}
    assert {row.fault for row in now[client]} == possible
    assert wrong == [], f"{AGAIN} where the client is right"


def test_some_installed_client_has_the_recorded_version() -> None:
    """Else everything is compared by its coarse facts alone, and the matrix is out of date."""
    _, versions, _ = installed_clients(list(CLIENTS))
    assert any(versions[name] == MATRIX.clients[name] for name in versions), AGAIN


def test_the_page_is_the_data() -> None:
    """Both are written by one command."""
    assert (DOCS / PAGE_NAME).read_text() == page_of(MATRIX), AGAIN
    assert (DOCS / JSON_NAME).read_bytes() == dump_matrix(MATRIX), AGAIN


@pytest.mark.parametrize("row", REFERENCE_ROWS, ids=lambda row: f"{row.fault}-{row.how}")
def test_the_reference_never_takes_for_unexecuted_what_may_have_run(row: Row) -> None:
    """Its guess against the judge's class, under the same contract."""
    fault = CATALOGUE[row.fault]
    class_ = fault.class_under(REFERENCE_CONTRACT)
    for seen in row.seen:
        if not seen.got.error:
            # Of what is written wrongly some can be read; who has noticed that a connection has ended takes another.
            # And who waits for its pool as long as that takes has lost nothing.
            assert fault.evidence.sight in (Sight.WHOLE, Sight.FLAWED, Sight.IDLE_END, Sight.POOL_WAIT)
            assert seen.got.status == 200
            continue
        proves = TABLE[Kind[seen.got.reason]][0]
        safe = class_ is Class.SAFE or (row.varies != "" and not fault.truth.executed)
        assert safe or proves is not Proves.NOT_EXECUTED
        assert fault.truth.executed or proves is not Proves.EXECUTED


def test_the_reference_sends_again_every_fault_that_is_safe() -> None:
    """What is provably unexecuted is not given up for want of a guess."""
    given_up = [
        row.fault
        for row in REFERENCE_ROWS
        for seen in row.seen
        if CATALOGUE[row.fault].class_under(REFERENCE_CONTRACT) is Class.SAFE
        and seen.got.error
        and TABLE[Kind[seen.got.reason]][0] is not Proves.NOT_EXECUTED
    ]
    assert given_up == []


def _agrees(row: Row, *, exactly: bool) -> bool:
    recorded = RECORDED[row.fault, row.client, row.how]
    if row.cannot or recorded.cannot:
        return row == recorded
    (seen,) = row.seen
    if exactly and not recorded.varies:
        return _comparable(recorded.seen[0], seen) == seen
    coarse = _counted if _ends_otherwise(row) else _coarse
    return any(coarse(_comparable(known, seen)) == coarse(seen) for known in recorded.seen)


def _ends_otherwise(row: Row) -> bool:
    """Over TLS it is Python's ssl that sees a reset: before 3.13 as an EOF, so that a cut answer may look whole, and
    its connection fit for the next request. All that ends in another way must look as it did.
    """
    case = CASES[row.fault, row.how]
    reset = getattr(case.fault.act, "ending", None) is Ending.RESET
    return reset and case.plan.tls and python_version() != MATRIX.python


def _counted(seen: Seen) -> tuple[int | None, int]:
    return seen.sent, seen.ran


def _comparable(known: Seen, seen: Seen) -> Seen:
    """Where nothing can count dials (without CAP_NET_RAW), their number is not compared."""
    return Seen(got=known.got, sent=None, ran=known.ran, then=known.then) if seen.sent is None else known


def _coarse(seen: Seen) -> tuple[bool, int | None, int, bool]:
    return seen.got.succeeded, seen.sent, seen.ran, seen.then.succeeded
