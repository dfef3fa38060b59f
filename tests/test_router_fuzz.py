"""Hostile peers on a real socket: whatever they send, the answer is honest, the ledger whole, and the router stands."""

import logging
import random
import socket
import struct
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.honest import wrong_with
from benchmarks.hostile import KINDS, STRIDE, Hostile, Then, hostile
from fake_router.entries import Received, Rejected, Unserved
from faults.acts import DialAct, is_listener_act, needs_tls
from faults.catalogue import CATALOGUE
from faults.vocabulary import Sight
from tests.router_client import HOST, LONG_MS, Client, Stage, dial, faulty, one, staged, work

FIRST = 1000
PLAIN = [fault for fault in CATALOGUE.values() if not needs_tls(fault.act)]
STRUCK = [fault.id for fault in PLAIN if not is_listener_act(fault.act)]
ACCEPTED = [fault.id for fault in PLAIN if is_listener_act(fault.act) and not isinstance(fault.act, DialAct)]


@pytest.fixture(scope="module")
def shared() -> Iterator[Stage]:
    with staged() as stage:
        yield stage


@pytest.fixture(autouse=True)
def no_callback_fails(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """The loop logs what a callback raises, and goes on: that would be a crash that nobody sees."""
    yield
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def send(port: int, hostile: Hostile, *, stays: bool = True) -> bytes:
    """Be that peer; all that it got. stays: it reads until the router has ended."""
    got = bytearray()
    try:
        with socket.create_connection((HOST, port), timeout=LONG_MS / 1000) as sock:
            _converse(sock, hostile, got, stays=stays)
    except TimeoutError:
        raise  # it was left hanging
    except OSError:
        pass  # the router has ended it before all was sent
    return bytes(got)


def _converse(sock: socket.socket, hostile: Hostile, got: bytearray, *, stays: bool) -> None:
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for part in hostile.parts:
        sock.sendall(part)
    if hostile.then is Then.RESET:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return
    if hostile.then is Then.LEAVE:
        got += sock.recv(65_536) if stays else b""
        return
    if hostile.then is not Then.READ:
        sock.shutdown(socket.SHUT_WR)
    while stays and (data := sock.recv(65_536)):
        got += data


@settings(max_examples=300, deadline=None)
@given(rng=st.randoms(use_true_random=False))
def test_a_hostile_peer_gets_an_honest_answer_and_has_its_place_in_the_ledger(
    shared: Stage, rng: random.Random
) -> None:
    """What is wrong gets a 4xx and nothing else, every whole request is in the ledger, and the next one is served."""
    since = len(shared.router.ledger)
    given_ = hostile(rng, FIRST)
    assert wrong_with(given_, send(shared.port, given_)) == ""
    entries = shared.entries()[since:]
    named = {entry.operation for entry in entries if isinstance(entry, Received | Unserved)}
    assert named >= set(given_.operations)
    assert all(400 <= entry.status < 500 for entry in entries if isinstance(entry, Rejected))
    assert dial(shared.port, work(10)).sight is Sight.WHOLE


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__.strip("_"))
def test_each_kind_of_hostile_peer_meets_what_is_expected_of_it(shared: Stage, kind: object) -> None:
    """So that none is left to the luck of the draw."""
    assert callable(kind)
    for seed in range(20):
        given_ = kind(random.Random(seed), FIRST + seed * STRIDE)
        assert wrong_with(given_, send(shared.port, given_)) == ""


@settings(max_examples=100, deadline=None)
@given(rng=st.randoms(use_true_random=False), fault=st.sampled_from(STRUCK))
def test_a_hostile_peer_that_meets_a_fault_and_leaves_harms_nobody(
    shared: Stage, rng: random.Random, fault: str
) -> None:
    """Whatever struck it, work ends, and after healing the next request is served."""
    shared.heal()  # what a failed example has left
    shared.arm(one(fault), first=FIRST)
    send(shared.port, hostile(rng, FIRST), stays=False)
    shared.heal()
    assert shared.idle()
    assert dial(shared.port, work(10)).sight is Sight.WHOLE


@settings(max_examples=60, deadline=None)
@given(rng=st.randoms(use_true_random=False), fault=st.sampled_from(ACCEPTED))
def test_a_hostile_peer_of_a_faulty_listener_harms_nobody(shared: Stage, rng: random.Random, fault: str) -> None:
    """Whatever lies unread, healing and draining end it, and the next request is served."""
    shared.heal()  # what a failed example has left
    shared.arm(faulty(fault), first=FIRST)
    send(shared.port, hostile(rng, FIRST), stays=False)
    shared.heal()
    shared.drain()
    assert shared.idle()
    assert dial(shared.port, work(10)).sight is Sight.WHOLE


def test_half_open_and_idle_peers_keep_nobody_from_being_served(shared: Stage) -> None:
    """Hundreds of them, and all sockets are closed when they have gone."""
    peers = [Client(shared.port) for _ in range(300)]
    for number, peer in enumerate(peers):
        peer.send(work(FIRST + number)[: number % 90])
    assert dial(shared.port, work(10)).sight is Sight.WHOLE
    for peer in peers:
        peer.socket.close()
    shared.until_unconnected()
