"""A fake router for somebody's own tests: what it cannot do of a plan it refuses in words that lead on."""

import socket
import ssl
from collections.abc import Iterator
from typing import Any

import pytest

from fake_router.thread import RouterThread
from faults.plan import Plan, PlannedListener, PlannedOperation
from faults.vocabulary import Leaving
from suites.marked import Marked
from suites.own_router import OwnRouter
from tests.router_client import work


@pytest.fixture(scope="module")
def threads() -> Iterator[RouterThread]:
    with RouterThread() as threads:
        yield threads


@pytest.fixture
def own(threads: RouterThread) -> Iterator[OwnRouter]:
    own = OwnRouter.start(Marked(upstreams=2), threads)
    yield own
    own.close()


WAIT = PlannedListener(fault="pool-wait")
LEAVES = PlannedOperation(faults=("silence-after",), leaves=Leaving.FIN)


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ((), "arm(); expected ids of faults, or one Plan (`faults.plan_json.load_plan("),
        (({"operations": []},), "arm({'operations': []},); expected ids"),
        (("plan.json",), "fault 'plan.json' is not in the catalogue"),
        (("pool-wait",), "fault 'pool-wait'; expected one that a router alone can make strike"),
        (
            ("handshake-fin",),
            "tls is True, of a plan or its faults; expected False, or a test that is marked fake_router(",
        ),
        ((Plan(operations=(PlannedOperation(),), upstreams=3),), "upstreams is 3; expected no more than this router"),
        ((Plan(operations=(LEAVES,)),), "operation 0 has leaves 'fin'; expected null: its caller is not ours to end"),
        ((Plan(operations=(PlannedOperation(),), listeners=(WAIT,)),), "`retryproof replay`, or the fixture `bench`"),
        (("name-unknown",), "this router plays no name server; expected "),
    ],
)
def test_what_it_cannot_do_is_refused(own: OwnRouter, what: tuple[Any, ...], message: str) -> None:
    """And nothing is armed."""
    with pytest.raises(ValueError, match=r"expected|catalogue") as raised:
        own.arm(*what)
    assert message in str(raised.value)
    assert len(own.ledger) == 0


@pytest.mark.parametrize("number", ["1", 0, -1, 1.0, True, None, 2**31])
def test_what_is_no_number_of_an_operation_is_refused(own: OwnRouter, number: Any) -> None:
    """Whatever is asked about it."""
    for ask in (own.prompt_for, own.request_for, own.executions):
        with pytest.raises(ValueError, match=f"operation number {number!r}; expected 1 to 2147483647"):
            ask(number)


def test_a_gate_has_a_name(own: OwnRouter) -> None:
    """And nothing else."""
    gate: Any = 3
    with pytest.raises(ValueError, match=r"open_gate\(3\); expected the name of a gate"):
        own.open_gate(gate)


def test_over_tls_it_says_whom_to_trust(threads: RouterThread, own: OwnRouter) -> None:
    """Faults strike there as anywhere; without TLS there is nobody to trust."""
    with pytest.raises(ValueError, match=r"expected a test that is marked fake_router\(tls=True\)"):
        _ = own.ca_pem
    over_tls = OwnRouter.start(Marked(faults=["503-after"], tls=True), threads)
    try:
        (port,) = over_tls.router.ports
        assert over_tls.url == f"https://127.0.0.1:{port}"
        context = ssl.create_default_context(cadata=over_tls.ca_pem)
        with (
            socket.create_connection(("127.0.0.1", port), timeout=10) as sock,
            context.wrap_socket(sock, server_hostname="localhost") as tls,
        ):
            tls.sendall(work(1))
            assert tls.recv(65_536).startswith(b"HTTP/1.1 503 ")
        assert (over_tls.executions(1), over_tls.missing_strikes()) == (1, "")
    finally:
        over_tls.close()
