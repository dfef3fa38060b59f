"""The kernel's word on dropped SYNs, refused dials and held sockets is exact."""

import contextlib
import os
import select
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator

import pytest

from fake_router.kernel import (
    Dial,
    DialWitness,
    can_watch_packets,
    held_towards,
    listener_drops,
    sockets_towards,
    still_held,
)
from fake_router.packet_socket import PacketsLostError

watching = pytest.mark.skipif(not can_watch_packets(), reason="needs CAP_NET_RAW")
RESET = struct.pack("ii", 1, 0)


@contextlib.contextmanager
def bound(backlog: int | None = None) -> Iterator[tuple[socket.socket, int]]:
    """A bound socket, listening where a backlog is given, and its port."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        if backlog is not None:
            sock.listen(backlog)
        yield sock, sock.getsockname()[1]


def dial(port: int) -> socket.socket:
    """A socket that has sent its SYN to that port and waits for nothing."""
    sock = socket.socket()
    sock.setblocking(False)
    sock.connect_ex(("127.0.0.1", port))
    return sock


def source_port(sock: socket.socket) -> int:
    port: int = sock.getsockname()[1]
    return port


def refused_dial(port: int) -> int:
    """The source port of a dial that was refused."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        with pytest.raises(ConnectionRefusedError):
            sock.connect(("127.0.0.1", port))
        return source_port(sock)


def test_a_listener_with_room_has_dropped_nothing() -> None:
    with bound(backlog=8) as (_, port), dial(port):
        assert listener_drops(port) == 0


def test_every_syn_dropped_at_a_full_accept_queue_is_counted() -> None:
    with bound(backlog=0) as (_, port), dial(port), dial(port), dial(port):
        assert listener_drops(port) == 2  # the first of the three filled the queue


def test_drops_of_a_port_without_a_listener_are_refused_with_its_number() -> None:
    with bound() as (_, port), pytest.raises(LookupError, match=str(port)):
        listener_drops(port)


def test_sockets_in_every_state_that_a_process_holds_are_counted() -> None:
    with bound(backlog=0) as (listener, port), socket.create_connection(("127.0.0.1", port)) as established:
        assert sockets_towards([port]) == 1
        with dial(port):  # SYN_SENT: the queue is full
            assert sockets_towards([port]) == 2
        listener.accept()[0].close()
        assert established.recv(1) == b""  # CLOSE_WAIT: what a pool leaks
        assert sockets_towards([port]) == 1
    assert sockets_towards([port]) == 0


def test_a_socket_that_its_process_has_closed_is_the_kernels_own() -> None:
    with bound(backlog=1) as (listener, port):
        client = socket.create_connection(("127.0.0.1", port))
        with listener.accept()[0] as server:
            client.close()
            assert server.recv(1) == b""  # the client's end lives on in FIN_WAIT2
            assert sockets_towards([port]) == 0


def test_fillers_the_routers_own_ends_and_other_ports_are_not_counted() -> None:
    with bound(backlog=8) as (_, other), bound(backlog=8) as (listener, port), dial(other), dial(port) as filler:
        with listener.accept()[0]:
            assert sockets_towards([port], excluding=[source_port(filler)]) == 0
        with dial(port):
            assert sockets_towards([port], excluding=[source_port(filler)]) == 1
            assert sockets_towards([port, other]) == 3
            assert sockets_towards([]) == 0


def test_what_a_server_has_accepted_is_not_counted_whatever_port_its_client_has() -> None:
    """On another address of loopback a client may have the number of our port, and the server sees it as its peer."""
    with bound(backlog=8) as (_, port), bound(backlog=8) as (server, there), socket.socket() as client:
        client.bind(("127.0.0.2", port))
        client.connect(("127.0.0.1", there))
        with server.accept()[0]:
            assert sockets_towards([port]) == 0
            with dial(port):
                assert sockets_towards([port]) == 1


def test_an_ipv6_socket_that_talks_to_an_ipv4_address_is_counted() -> None:
    with bound(backlog=8) as (_, port), socket.socket(socket.AF_INET6) as mapped:
        mapped.connect(("::ffff:127.0.0.1", port))
        assert sockets_towards([port]) == 1


def test_of_sockets_once_seen_those_are_told_that_are_held_still() -> None:
    """Whatever became of the others: ended in good order, or reset and followed by another with the same ports."""
    with bound(backlog=8) as (_, port), socket.create_connection(("127.0.0.1", port)) as staying:
        ended = socket.create_connection(("127.0.0.1", port))
        pid = os.getpid()  # an address that nobody else uses, with a port at which nobody listens
        own = f"127.9.{pid >> 8 & 255}.{pid & 255 | 1}", 20_001
        reset = socket.create_connection(("127.0.0.1", port), source_address=own)
        seen = held_towards([port])
        assert {one.source_port for one in seen} == {source_port(one) for one in (staying, ended, reset)}
        name = reset.getsockname()
        reset.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        for one in (ended, reset):
            one.close()
        assert [one.source_port for one in still_held(seen)] == [source_port(staying)]
        with socket.create_connection(("127.0.0.1", port), source_address=name):
            assert [one.source_port for one in still_held(seen)] == [source_port(staying)]
            assert len(held_towards([port])) == 2


@pytest.mark.parametrize("port", [0, -1, 65_536])
def test_a_number_that_is_no_port_is_refused(port: int) -> None:
    with pytest.raises(ValueError, match=repr(port)):
        sockets_towards([port])
    with pytest.raises(ValueError, match=repr(port)):
        listener_drops(port)


@watching
def test_a_refused_dial_is_told_once_and_is_known_when_its_caller_knows() -> None:
    with bound() as (_, port), bound() as (_, other), DialWitness(port, refusing=True) as witness:
        assert witness.read() == []
        for _ in range(20):
            refused_dial(other)
            assert witness.read() == []
            expected = Dial(peer_port=refused_dial(port), refused=True)
            assert witness.read() == [expected]


@watching
def test_dials_between_two_reads_are_told_in_their_order() -> None:
    with bound() as (_, port), DialWitness(port, refusing=True) as witness:
        ports = [refused_dial(port) for _ in range(20)]
        assert [told.peer_port for told in witness.read()] == ports


@watching
def test_a_second_dial_from_the_same_source_port_is_another_dial() -> None:
    with bound() as (_, port), bound() as (reserved, source), DialWitness(port, refusing=True) as witness:
        reserved.close()
        for _ in range(2):
            with socket.socket() as sock:
                sock.bind(("127.0.0.1", source))
                assert sock.connect_ex(("127.0.0.1", port)) != 0
        assert witness.read() == [Dial(peer_port=source, refused=True)] * 2


@watching
def test_a_syn_that_the_kernel_sends_again_is_the_same_dial_and_one_more_drop() -> None:
    with bound(backlog=0) as (_, port), dial(port), DialWitness(port, refusing=False) as witness, dial(port) as dialler:
        assert witness.read() == [Dial(peer_port=source_port(dialler), refused=False)]
        assert select.select([witness], [], [], 10)[0], "the kernel sends a dropped SYN again after 1 s"
        assert witness.read() == []
        assert listener_drops(port) == 2


@watching
def test_a_reset_of_an_established_connection_is_no_refused_dial() -> None:
    with bound(backlog=8) as (listener, port), DialWitness(port, refusing=True) as witness:
        with socket.create_connection(("127.0.0.1", port)) as client:
            server = listener.accept()[0]
            server.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            server.close()
            with pytest.raises(ConnectionResetError):
                client.recv(1)
        assert witness.read() == []


@watching
def test_only_the_syn_of_a_served_connection_wakes_the_witness() -> None:
    with (
        bound(backlog=8) as (listener, port),
        DialWitness(port, refusing=False) as witness,
        socket.create_connection(("127.0.0.1", port)) as client,
        listener.accept()[0] as server,
    ):
        assert witness.read() == [Dial(peer_port=source_port(client), refused=False)]
        client.sendall(b"x" * 1000)
        assert server.recv(1000)
        assert not select.select([witness], [], [], 0)[0]


@watching
def test_a_witness_that_lost_packets_says_so_from_then_on() -> None:
    with bound() as (_, port), DialWitness(port, refusing=True) as witness:
        for _ in range(3_000):  # more than any receive buffer holds, unread
            with dial(port):
                pass
        for _ in range(2):
            with pytest.raises(PacketsLostError, match="lost"):
                witness.read()


@watching
def test_a_witness_is_closed_twice_without_harm() -> None:
    with bound() as (_, port), DialWitness(port, refusing=True) as witness:
        witness.close()
        assert witness.fileno() == -1


def test_without_the_right_to_open_packet_sockets_it_can_be_known_beforehand() -> None:
    script = """if True:
        import os
        from fake_router.kernel import DialWitness, can_watch_packets
        if os.getuid() == 0:
            os.setuid(65534)
        assert not can_watch_packets()
        try:
            DialWitness(80, refusing=True)
        except PermissionError:
            print("refused")
        """
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("refused", "")
