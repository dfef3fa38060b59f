"""Connections of the router: what is served, what is refused, and what of it the ledger says."""

import socket
from collections.abc import Iterator

import msgspec
import pytest

from fake_router.entries import (
    Closed,
    EndedBy,
    Executed,
    Opened,
    Probed,
    Received,
    Rejected,
    Striking,
    Unserved,
)
from faults.vocabulary import Sight
from tests.router_client import GIVES_UP_MS, Client, Stage, dial, one, request, staged, work


@pytest.fixture
def stage() -> Iterator[Stage]:
    with staged() as stage:
        yield stage


@pytest.fixture(scope="module")
def shared() -> Iterator[Stage]:
    with staged() as stage:
        yield stage


def test_a_request_in_any_two_segments_is_one_exchange(shared: Stage) -> None:
    data = work(3)
    with Client(shared.port) as client:
        client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for at in range(1, len(data), 7):
            client.send(data[:at])
            assert client.ask(data[at:]).sight is Sight.WHOLE
    received = [entry for entry in shared.of(Received) if entry.operation == 3]
    assert [entry.nth for entry in received] == list(range(1, len(received) + 1))
    assert [entry.of_operation for entry in received] == [entry.nth for entry in received]


def test_a_prompt_without_an_operation_is_served_as_load_tools_need_it(stage: Stage) -> None:
    seen = dial(stage.port, request(b'{"prompt":"Say hello","max_tokens":16}'))
    assert msgspec.json.decode(seen.body)["choices"][0]["token_ids"] == [31337, 0, 1, 0]
    assert [entry.operation for entry in stage.of(Received)] == [None]
    assert len(stage.of(Executed)) == 1
    assert stage.router.busy() == 0


def test_as_many_choices_come_as_were_asked_for(shared: Stage) -> None:
    seen = dial(shared.port, work(4, n=3))
    assert len(msgspec.json.decode(seen.body)["choices"]) == 3
    assert shared.of(Executed)[-1].choices == 3


@pytest.mark.parametrize(
    ("method", "target", "status"),
    [
        ("GET", "/health", 200),
        ("HEAD", "/health", 200),
        ("GET", "/v1/models?x=1", 200),
        ("GET", "http://router.test/health", 200),
        ("GET", "/nothing", 404),
        ("GET", "/v1/completions", 405),
        ("GET", "//[", 404),
        ("OPTIONS", "/", 405),
    ],
)
def test_a_look_is_a_probe_and_never_an_exchange(shared: Stage, method: str, target: str, status: int) -> None:
    before = len(shared.of(Received))
    with Client(shared.port) as client:
        client.send(f"{method} {target} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n".encode())
        data = b""
        while piece := client.socket.recv(4096):
            data += piece
    assert data.startswith(b"HTTP/1.1 %d " % status)
    assert data.endswith(b"\r\n\r\n") is (method == "HEAD")
    probed = shared.of(Probed)[-1]
    assert (probed.method, probed.target, probed.status) == (method, target, status)
    assert len(shared.of(Received)) == before


@pytest.mark.parametrize(
    ("data", "status", "says"),
    [
        (request(b"{}", target="/v1/chat"), 404, "'/v1/chat' is not served; expected /v1/completions"),
        (request(b"{}", method="PUT"), 405, "PUT /v1/completions; expected POST"),
        (request(b"{}", target="/health"), 405, "expected GET or HEAD"),
        (request(b"not json"), 400, "expected JSON with `prompt`"),
        (request(b'{"prompt":' + b"[" * 100_000), 400, "expected JSON with `prompt`"),
        (request(b"[]"), 400, "expected JSON with `prompt`"),
        (request(b"{}"), 400, "expected `prompt`, a text"),
        (request(b'{"prompt":[1]}', target="/v1/chat/completions"), 400, "expected `messages`, a list"),
        (request(b'{"prompt":"x","n":0}'), 400, "n is 0; expected 1 to 128"),
        (request(b'{"prompt":"x","stream":1}'), 400, "expected JSON with `prompt`"),
    ],
)
def test_work_that_cannot_be_understood_is_rejected_and_the_connection_lives(
    shared: Stage, data: bytes, status: int, says: str
) -> None:
    with Client(shared.port) as client:
        seen = client.ask(data)
        assert client.ask(work(5)).sight is Sight.WHOLE
    assert seen.status == status
    assert says in msgspec.json.decode(seen.body)["error"]["message"]
    rejected = shared.of(Rejected)[-1]
    assert rejected.status == status
    assert says in rejected.why


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"\x16\x03\x01\x00\x01garbage\r\n\r\n", 400),
        (b"POST /v1/completions HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999\r\n\r\n", 413),
        (b"GET / HTTP/1.1\r\nX: " + b"a" * 70_000 + b"\r\n\r\n", 431),
    ],
)
def test_bytes_that_are_no_request_get_an_honest_answer_and_fin(shared: Stage, data: bytes, status: int) -> None:
    with Client(shared.port) as client:
        assert client.ask(data).status == status
        assert client.ends_by() is Sight.FIN
    assert shared.of(Rejected)[-1].status == status
    assert dial(shared.port, work(6)).sight is Sight.WHOLE


@pytest.mark.parametrize("body", [b"", b"{}"])
def test_a_request_for_work_that_is_refused_says_how_much_body_it_had(shared: Stage, body: bytes) -> None:
    """None at all may mean that it was lost on the way."""
    with Client(shared.port) as client:
        client.ask(b"POST /v1/completions HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
    assert shared.of(Rejected)[-1].body_bytes == len(body)


def test_a_body_that_is_withheld_is_asked_for(shared: Stage) -> None:
    """RFC 9110 s10.1.1."""
    head, body = work(8).split(b"\r\n\r\n")
    with Client(shared.port) as client:
        client.send(head + b"\r\nExpect: 100-continue\r\n\r\n")
        assert client.socket.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        assert client.ask(body).sight is Sight.WHOLE


def test_requests_that_come_together_are_answered_in_order(stage: Stage) -> None:
    with Client(stage.port) as client:
        client.send(b"".join(work(number) for number in range(1, 401)))
        texts = [msgspec.json.decode(body)["choices"][0]["text"] for body in client.bodies(400)]
    assert texts == [f"operation {n} execution {n} choice 0" for n in range(1, 401)]
    assert stage.idle()


def test_a_peer_that_has_ended_its_side_still_gets_its_answer(stage: Stage) -> None:
    with Client(stage.port) as client:
        client.send(work(1))
        client.socket.shutdown(socket.SHUT_WR)
        assert client.see().sight is Sight.WHOLE
    assert [entry.by for entry in stage.of(Closed)] == [EndedBy.PEER]


def test_http_1_0_gets_no_chunks_and_an_end(stage: Stage) -> None:
    """RFC 9112 s6.1: what cannot be sent to it cannot strike it, and leaves no strike."""
    stage.arm(one("body-chunked-fin"))
    with Client(stage.port) as client:
        seen = client.ask(work(1).replace(b"HTTP/1.1", b"HTTP/1.0"))
        assert (seen.sight, dict(seen.headers)[b"connection"]) == (Sight.WHOLE, b"close")
        assert client.ends_by() is Sight.FIN
    assert stage.of(Striking) == []


@pytest.mark.parametrize("of_body", [None, 0, 7])
def test_a_request_whose_end_never_comes_is_unserved(stage: Stage, of_body: int | None) -> None:
    """How much of its body came behind its head is known, where its head came (not: None)."""
    head = work(1).index(b"\r\n\r\n") + 4
    count = head - 1 if of_body is None else head + of_body
    with Client(stage.port) as client:
        client.send(work(1)[:count])
        stage.entries()
    (lost,) = stage.of(Unserved)
    assert (lost.operation, lost.request_bytes, lost.body_bytes) == (None, count, of_body)
    assert stage.of(Received) == []


def test_a_request_that_crosses_our_fin_is_unserved_and_named(stage: Stage) -> None:
    """The idle-close race: its peer sees the same EOF as after a FIN that followed execution."""
    with Client(stage.port) as client:
        assert client.ask(work(1)).sight is Sight.WHOLE
        stage.thread.run(stage.router.drop_idle)
        assert client.ask(work(2)).sight is Sight.FIN
    (lost,) = stage.of(Unserved)
    assert (lost.operation, lost.connection) == (2, 1)
    assert [entry.by for entry in stage.of(Closed)] == [EndedBy.ROUTER_FIN]


def test_only_idle_connections_are_dropped(stage: Stage) -> None:
    stage.arm(one("silence-before"))
    with Client(stage.port) as idle, Client(stage.port) as busy, Client(stage.port) as half:
        busy.send(work(1))
        half.send(work(2)[:-1])
        stage.entries()
        assert stage.router.connections() == 3
        stage.thread.run(stage.router.drop_idle)
        assert idle.ends_by() is Sight.FIN
        assert half.ask(work(2)[-1:]).sight is Sight.WHOLE
        assert busy.see(within_ms=GIVES_UP_MS).sight is Sight.SILENCE
        assert stage.router.connections() == 3, "a connection that waits for the peer's FIN is still a socket"


def test_opened_and_closed_name_the_peer_and_who_ended_it(stage: Stage) -> None:
    with Client(stage.port) as client:
        port = client.port
        assert client.ask(work(1)).sight is Sight.WHOLE
    (opened,) = stage.of(Opened)
    assert (opened.connection, opened.upstream, opened.peer_port) == (1, 0, port)
    assert [entry.by for entry in stage.of(Closed)] == [EndedBy.PEER]
