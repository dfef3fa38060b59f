"""Listeners: faults before and at accept, their witnesses, and what must not be touched by them."""

import errno
import socket
from collections.abc import Iterator

import pytest

from fake_router import dialling
from fake_router.bound import ListenError, PortInUseError, bound, written
from fake_router.entries import Dialled, Executed, Opened, Received, Striking, Struck, Unserved, Witness
from fake_router.kernel import DialWitness, can_watch_packets
from fake_router.packet_socket import PacketsLostError
from fake_router.server import Router
from faults.plan import Plan, PlannedListener, PlannedOperation
from faults.vocabulary import Sight
from tests.router_client import GIVES_UP_MS, HOST, Client, Stage, dial, faulty, staged, work

CONNECT = {"connect-refused": Sight.REFUSED, "syn-dropped": Sight.CONNECT_TIMEOUT}

packets = pytest.mark.skipif(not can_watch_packets(), reason="packets are seen with CAP_NET_RAW only")


@pytest.fixture
def stage() -> Iterator[Stage]:
    with staged(upstreams=2) as stage:
        yield stage


class _NoPackets:
    """A witness that this process may not have."""

    def __init__(self, port: int, *, refusing: bool) -> None:
        raise PermissionError(errno.EPERM, "no CAP_NET_RAW")


@packets
@pytest.mark.parametrize("fault", CONNECT)
@pytest.mark.parametrize("drain_first", [True, False])
def test_a_faulty_upstream_leaves_the_other_alone_and_its_dials_come_in_order(
    stage: Stage, fault: str, drain_first: bool
) -> None:
    """Dialled on the faulty one, then Opened on the healthy one, then the strike with its count."""
    stage.arm(faulty(fault, upstream=0, upstreams=2))
    assert dial(stage.router.ports[0], work(1), within_ms=GIVES_UP_MS).sight is CONNECT[fault]
    assert dial(stage.router.ports[1], work(1)).sight is Sight.WHOLE
    if drain_first:
        stage.drain()
    stage.heal()
    (striking,), (dialled,) = stage.of(Striking), stage.of(Dialled)
    (opened,), (struck,) = stage.of(Opened), stage.of(Struck)
    assert striking.seq < dialled.seq < opened.seq < struck.seq
    assert (striking.upstream, striking.operation, striking.connection) == (0, 1, None)
    assert (dialled.upstream, dialled.refused, opened.upstream) == (0, fault == "connect-refused", 1)
    assert (struck.striking, struck.witness, struck.count) == (striking.seq, Witness.PACKET, 1)


@packets
@pytest.mark.parametrize("fault", CONNECT)
def test_two_dials_are_two(stage: Stage, fault: str) -> None:
    stage.arm(faulty(fault, upstream=0, upstreams=2))
    for _ in range(2):
        dial(stage.router.ports[0], work(1), within_ms=GIVES_UP_MS)
    stage.heal()
    assert len({entry.peer_port for entry in stage.of(Dialled)}) == 2
    assert [entry.count for entry in stage.of(Struck)] == [2]


@pytest.mark.parametrize("fault", CONNECT)
def test_without_a_dial_nothing_has_struck_and_our_own_filler_is_nobody(stage: Stage, fault: str) -> None:
    stage.arm(faulty(fault, upstreams=2))
    stage.heal()
    stage.drain()
    assert len(stage.of(Striking)) == 2
    if can_watch_packets():
        assert stage.of(Struck) == []
    assert stage.router.connections() == 0
    assert not stage.of(Opened)
    assert not stage.of(Dialled)
    for port in stage.router.ports:
        assert dial(port, work(2)).sight is Sight.WHOLE


def test_without_packets_the_kernel_counts_dropped_syns(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dialling, "DialWitness", _NoPackets)
    stage.arm(faulty("syn-dropped", upstream=0, upstreams=2))
    dial(stage.port, work(1), within_ms=GIVES_UP_MS)
    assert dial(stage.router.ports[1], work(1)).sight is Sight.WHOLE
    stage.heal()
    assert [(entry.witness, entry.count) for entry in stage.of(Struck)] == [(Witness.SK_DROPS, 1)]


@pytest.mark.parametrize(
    ("upstream", "touched", "proved"), [(None, False, True), (None, True, False), (0, False, False)]
)
def test_without_packets_a_refusal_is_proved_only_where_nothing_else_can_have_happened(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, upstream: int | None, touched: bool, proved: bool
) -> None:
    """Every upstream refuses, and no request came on a connection from before."""
    monkeypatch.setattr(dialling, "DialWitness", _NoPackets)
    with Client(stage.port) as before:
        assert before.ask(work(9)).sight is Sight.WHOLE
        stage.arm(faulty("connect-refused", upstream=upstream, upstreams=2))
        assert dial(stage.port, work(1)).sight is Sight.REFUSED
        if touched:
            assert before.ask(work(1)).sight is Sight.WHOLE
        stage.heal()
    assert {entry.witness for entry in stage.of(Struck)} == ({Witness.EXCLUSION} if proved else set())


@packets
def test_a_dropped_syn_that_the_packet_witness_missed_is_still_counted_by_the_kernel(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It watches loopback alone; a subject may be elsewhere."""
    monkeypatch.setattr(DialWitness, "read", lambda _: [])
    stage.arm(faulty("syn-dropped", upstream=0, upstreams=2))
    dial(stage.port, work(1), within_ms=GIVES_UP_MS)
    stage.heal()
    assert [entry.witness for entry in stage.of(Struck)] == [Witness.SK_DROPS]


@packets
def test_a_witness_that_has_lost_packets_proves_nothing(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(_: object) -> None:
        raise PacketsLostError("1 packets were lost")

    monkeypatch.setattr(DialWitness, "read", lost)
    stage.arm(faulty("connect-refused", upstream=0, upstreams=2))
    assert dial(stage.port, work(1)).sight is Sight.REFUSED
    stage.heal()
    assert stage.of(Struck) == []


@pytest.mark.parametrize("fault", ["accept-reset", "unread-reset", "unread-never"])
def test_a_limit_of_connections_leaves_the_listener_healthy_afterwards(stage: Stage, fault: str) -> None:
    listener = PlannedListener(fault=fault, upstream=0, connections=2)
    stage.arm(Plan(operations=(PlannedOperation(),), listeners=(listener,), upstreams=2))
    seen = [dial(stage.port, work(1), within_ms=GIVES_UP_MS).sight for _ in range(3)]
    bad = Sight.SILENCE if fault == "unread-never" else Sight.RESET
    assert seen == [bad, bad, Sight.WHOLE]
    assert len(stage.of(Struck)) == len(stage.of(Striking)) == 2


def test_a_connection_without_a_request_is_not_struck(stage: Stage) -> None:
    """A pool may connect ahead; what it never used was never struck."""
    for fault, upstream in (("unread-reset", 0), ("unread-never", 1)):
        stage.arm(faulty(fault, upstream=upstream, upstreams=2), first=upstream + 1)
        with Client(stage.router.ports[upstream]):
            stage.until(Opened, upstream + 1)
    stage.drain()
    assert not stage.of(Struck)
    assert not stage.of(Unserved)
    assert stage.router.connections() == 0


@pytest.mark.parametrize("fault", ["unread-reset", "unread-late"])
def test_bytes_have_arrived_when_the_whole_request_has(stage: Stage, fault: str) -> None:
    """A head alone strikes nothing: the fault is the same for one segment and for two."""
    stage.arm(faulty(fault, upstream=0, upstreams=2))
    with Client(stage.port) as client:
        client.send(work(1)[:-20])
        stage.until(Opened, 1)
        assert not stage.of(Struck)
        seen = client.ask(work(1)[-20:])
    assert seen.sight is (Sight.RESET if fault == "unread-reset" else Sight.WHOLE)
    assert [entry.operation for entry in stage.of(Unserved)] + [entry.operation for entry in stage.of(Received)] == [1]


def test_a_large_request_has_arrived_with_its_first_part(stage: Stage) -> None:
    """What no socket buffer holds cannot be waited for; its operation is then the plan's only one."""
    stage.arm(faulty("unread-reset", upstream=0, upstreams=2))
    assert dial(stage.port, work(1, padding="x" * 3_000_000)).sight is Sight.RESET
    (striking,) = stage.of(Striking)
    assert striking.operation == 1
    assert [entry.operation for entry in stage.of(Unserved)] == [None]


def test_connections_from_before_a_refusal_live_on(stage: Stage) -> None:
    with Client(stage.port) as client:
        assert client.ask(work(1)).sight is Sight.WHOLE
        stage.arm(faulty("connect-refused", upstream=0, upstreams=2), first=2)
        assert client.ask(work(3)).sight is Sight.WHOLE
        stage.heal()
        assert client.ask(work(3)).sight is Sight.WHOLE
    assert len(stage.of(Executed)) == 3


def test_a_connection_that_waits_to_be_accepted_is_not_reset_by_a_refusal(stage: Stage) -> None:
    def connects_and_arms() -> Client:
        client = Client(stage.port)  # the router's loop stands still: nobody has accepted it
        stage.router.arm(faulty("connect-refused", upstream=0, upstreams=2), first_operation=1, read_timeout_ms=60)
        return client

    with stage.thread.run(connects_and_arms) as client:
        assert client.ask(work(1)).sight is Sight.WHOLE


@packets
def test_a_dial_just_before_healing_is_counted(stage: Stage) -> None:
    def dials_and_heals() -> Sight:
        seen = dial(stage.port, work(1))
        stage.router.heal()
        return seen.sight

    stage.arm(faulty("connect-refused", upstream=0, upstreams=2))
    assert stage.thread.run(dials_and_heals) is Sight.REFUSED
    assert [entry.count for entry in stage.of(Struck)] == [1]


async def test_a_port_in_use_is_named_and_nothing_stays_open() -> None:
    with socket.create_server((HOST, 0)) as taken:
        port = taken.getsockname()[1]
        router = Router(upstreams=2, ports=(0, port))
        with pytest.raises(PortInUseError, match=f"{HOST}:{port} is in use; expected a free port, or 0 for any"):
            await router.start()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((HOST, router.ports[0]))


async def test_a_port_can_be_had_again_at_once() -> None:
    async with Router() as router:
        (port,) = router.ports
        with pytest.raises(PortInUseError, match=str(port)):
            await Router(ports=(port,)).start()
    async with Router(ports=(port,)) as again:
        assert again.ports == (port,)


@pytest.mark.parametrize(
    ("upstreams", "ports", "says"),
    [(0, None, "upstreams is 0; expected 1 to 16"), (2, (0,), "1 ports for 2 upstreams; expected one for each")],
)
def test_a_router_that_cannot_be_is_refused(upstreams: int, ports: tuple[int, ...] | None, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Router(upstreams=upstreams, ports=ports)


@pytest.mark.parametrize(
    ("host", "says"),
    [
        ("8.8.8.8", "'8.8.8.8' is no address of this machine; expected one that is, or 0.0.0.0"),
        ("nowhere.invalid", "'nowhere.invalid' is not found"),
        ("a..b", "'a..b' is not found"),
        ("nul\0", "expected an address of this machine"),
        ("x" * 300, "expected an address of this machine"),
    ],
)
def test_where_nobody_can_listen_is_said_with_where_one_can(host: str, says: str) -> None:
    """Of an upstream, and of the control API."""
    with pytest.raises(ListenError, match=says):
        bound(host, 0)


def test_an_address_is_written_as_urls_have_it() -> None:
    """RFC 3986 s3.2.2."""
    assert [written("127.0.0.1", 80), written("::1", 80)] == ["127.0.0.1:80", "[::1]:80"]
