"""The control API, and the router as a process of its own."""

import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from fake_router.bound import PortInUseError
from fake_router.control import Control
from fake_router.entries import Executed, Marked, Opened, Received, Struck
from fake_router.ledger import load
from fake_router.server import Router
from fake_router.thread import RouterThread
from faults.vocabulary import Sight
from tests.router_client import HOST, LONG_MS, Client, work

ROOT = Path(__file__).parent.parent
PLAN = {"schema": 1, "operations": [{"faults": ["503-after"], "gate": "later"}]}


def armed(**keys: object) -> dict[str, object]:
    """What arms a plan with these keys."""
    plan = {"schema": 1, "operations": [{"faults": ["503-after"]}], **keys}
    return {"plan": plan, "first_operation": 1, "read_timeout_ms": 100}


class Api:
    """A control API as its client sees it; the router may be anywhere."""

    def __init__(self, port: int) -> None:
        self._port = port

    def call(self, method: str, path: str, body: object = None) -> tuple[int, bytes]:
        """Status and body of one call."""
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        connection = HTTPConnection(HOST, self._port, timeout=10)
        try:
            connection.request(method, path, data)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def post(self, path: str, body: object = None) -> dict[str, Any]:
        """The answer to a POST that must succeed."""
        status, answer = self.call("POST", path, body)
        assert status == 200, answer
        return dict(json.loads(answer))

    def until_busy(self) -> None:
        """Wait until work is open."""
        deadline = time.monotonic() + LONG_MS / 1000
        while json.loads(self.call("GET", "/status")[1])["busy"] == 0:
            assert time.monotonic() < deadline, "no work is open"


@pytest.fixture(scope="module")
def thread() -> Iterator[RouterThread]:
    with RouterThread() as thread:
        yield thread


@pytest.fixture
def both(thread: RouterThread) -> Iterator[tuple[Router, Api]]:
    router = thread.run(thread.start_router, upstreams=2)
    control = Control(router)
    thread.run(control.start)
    yield router, Api(control.port)
    thread.run(control.close)
    thread.run(thread.close_router, router)


def test_a_plan_is_armed_a_gate_opened_and_the_ledger_read(both: tuple[Router, Api]) -> None:
    router, api = both
    api.post("/arm", {"plan": PLAN, "first_operation": 5, "read_timeout_ms": 100})
    with Client(router.ports[0]) as client:
        client.send(work(5))
        api.until_busy()
        api.post("/gates/later")
        assert client.see().status == 503
    api.post("/heal")
    api.post("/drain")
    status, data = api.call("GET", "/ledger")
    entries = load(data)
    assert status == 200
    assert [entry.mark for entry in entries if isinstance(entry, Marked)] == [
        "armed",
        "gate later",
        "healed",
        "settled",
    ]
    assert sum(isinstance(entry, Executed | Struck) for entry in entries) == 2
    _, rest = api.call("GET", f"/ledger?since={len(entries) - 1}")
    assert load(rest) == entries[-1:]


def test_reset_starts_over_with_the_idle_connections_alone(both: tuple[Router, Api]) -> None:
    router, api = both
    plan = {"schema": 1, "operations": [{"faults": ["slow-beyond"]}, {"faults": ["503-after"]}]}
    with Client(router.ports[0]) as idle, Client(router.ports[0]) as waits:
        assert idle.ask(work(9)).sight is Sight.WHOLE
        api.post("/arm", {"plan": plan, "first_operation": 1, "read_timeout_ms": 60_000})
        waits.send(work(1))
        api.until_busy()
        assert api.post("/reset")["busy"] == 0
        assert waits.ends_by() is Sight.FIN
        assert idle.ask(work(9)).sight is Sight.WHOLE, "nothing is armed"
        entries = load(api.call("GET", "/ledger")[1])
    assert isinstance(entries[0], Opened)
    received = [entry for entry in entries if isinstance(entry, Received)]
    assert [(entry.operation, entry.of_operation) for entry in received] == [(9, 1)]


def test_status_names_the_upstreams(both: tuple[Router, Api]) -> None:
    router, api = both
    status = json.loads(api.call("GET", "/status")[1])
    assert status["upstreams"] == [f"{HOST}:{port}" for port in router.ports]
    assert status["connections"] == status["busy"] == 0


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "says"),
    [
        ("POST", "/arm", b"{", 400, "the body is no JSON"),
        ("POST", "/arm", b"[" * 100_000, 400, "the body is no JSON"),
        ("POST", "/arm", b"[]", 400, "expected an object with `plan`, `first_operation`, `read_timeout_ms`"),
        ("POST", "/arm", {"plan": PLAN}, 400, "expected an object with `plan`"),
        ("POST", "/arm", {"plan": {}, "first_operation": 1, "read_timeout_ms": 1}, 400, "lacks `operations`"),
        ("POST", "/arm", {"plan": PLAN, "first_operation": "1", "read_timeout_ms": 1}, 400, "first_operation is '1'"),
        ("POST", "/arm", {"plan": PLAN, "first_operation": True, "read_timeout_ms": 1}, 400, "expected a number"),
        ("POST", "/arm", {"plan": PLAN, "first_operation": 0, "read_timeout_ms": 1}, 400, "expected 1 or more"),
        (
            "POST",
            "/arm",
            {"plan": PLAN, "first_operation": 2**31, "read_timeout_ms": 1},
            400,
            "is 2147483648; expected",
        ),
        ("POST", "/arm", {"plan": PLAN, "first_operation": 1, "read_timeout_ms": 10**30}, 400, "up to 3600000"),
        ("POST", "/arm", armed(upstreams=3), 400, "upstreams is 3; expected no more than this router plays: 2"),
        (
            "POST",
            "/arm",
            armed(operations=[{"faults": ["silence-after"], "leaves": "fin"}]),
            400,
            "has leaves 'fin'; exp",
        ),
        ("POST", "/arm", armed(listeners=[{"fault": "pool-wait"}]), 400, "fault 'pool-wait'; expected one that"),
        (
            "POST",
            "/arm",
            b'{"plan": {}, "first_operation": 1, "first_operation": 2}',
            400,
            "'first_operation' stands twice",
        ),
        ("POST", "/arm", b'{"plan": {"schema": 1, "schema": 1}}', 400, "the key 'schema' stands twice"),
        ("POST", "/arm", b"\xff\xfe{", 400, "the body is no JSON"),
        ("POST", "/arm", b'{"plan": ' + b"9" * 5000 + b"}", 400, "the body is no JSON"),
        ("GET", "/ledger?since=%D9%A3", None, 400, "expected the seq of an entry"),
        ("GET", "/ledger?since=x", None, 400, "since is 'x'"),
        ("GET", "/ledger?follow=yes", None, 400, "follow is 'yes'; expected 1"),
        ("GET", f"/ledger?since={'9' * 5000}", None, 400, "expected the seq of an entry"),
        ("GET", "/nothing", None, 404, "/nothing: Not Found"),
        ("GET", "/arm", None, 405, "expected POST"),
        ("POST", "/arm", b"x" * 2_000_000, 413, "/arm"),
    ],
)
def test_what_cannot_be_done_is_refused_with_a_message(
    both: tuple[Router, Api], method: str, path: str, body: object, status: int, says: str
) -> None:
    router, api = both
    got, answer = api.call(method, path, body)
    assert got == status
    assert says in json.loads(answer)["error"]
    assert len(router.ledger) == 0


async def test_a_control_port_in_use_is_named() -> None:
    with socket.create_server((HOST, 0)) as taken:
        port = taken.getsockname()[1]
        async with Router() as router:
            with pytest.raises(PortInUseError, match=f"{HOST}:{port} is in use; expected a free port"):
                await Control(router, port=port).start()


# The process.


@contextmanager
def _process(*options: str) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-W", "error", "-m", "fake_router", *options]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_process_says_where_it_listens_serves_and_ends_cleanly(number: signal.Signals, code: int) -> None:
    with _process("--port", "0", "--port", "0") as process:
        assert process.stdout is not None
        addresses = json.loads(process.stdout.readline())
        ports = [int(address.rpartition(":")[2]) for address in addresses["upstreams"]]
        assert len(set(ports)) == 2
        api = Api(int(addresses["control"].rpartition(":")[2]))
        with Client(ports[1]) as client:
            assert client.ask(work(1)).sight is Sight.WHOLE
            assert api.call("GET", "/status")[0] == 200
            os.kill(process.pid, number)
            assert client.ends_by() is Sight.FIN
        assert process.communicate(timeout=10) == ("", "")
        assert process.returncode == code


def test_a_process_speaks_tls_under_a_ca_that_it_writes(tmp_path: Path) -> None:
    """A client that trusts that file alone gets its reply by any of the names; plans for it say `tls`."""
    ca = tmp_path / "ca.pem"
    with _process("--port", "0", "--tls-ca", str(ca), "--tls-name", "router.test") as process:
        assert process.stdout is not None
        addresses = json.loads(process.stdout.readline())
        assert addresses["ca"] == str(ca)
        port = int(addresses["upstreams"][0].rpartition(":")[2])
        context = ssl.create_default_context(cafile=ca)
        for name in ("router.test", HOST):
            with (
                socket.create_connection((HOST, port), timeout=10) as sock,
                context.wrap_socket(sock, server_hostname=name) as tls,
            ):
                tls.sendall(work(1))
                assert tls.recv(65_536).startswith(b"HTTP/1.1 200 OK")
        api = Api(int(addresses["control"].rpartition(":")[2]))
        plan = {"schema": 1, "operations": [{"faults": ["reset-after"]}]}
        armed = {"plan": plan, "first_operation": 7, "read_timeout_ms": 300}
        assert api.call("POST", "/arm", armed)[0] == 400
        assert api.call("POST", "/arm", {**armed, "plan": {**plan, "tls": True}})[0] == 200


def test_a_ca_that_cannot_be_written_is_one_message_and_exit_code_4(tmp_path: Path) -> None:
    with _process("--tls-ca", str(tmp_path / "no" / "ca.pem")) as process:
        out, err = process.communicate(timeout=10)
    assert (process.returncode, out) == (4, "")
    assert err.startswith("fake router: cannot write the CA to ")


def test_a_port_in_use_is_one_message_and_exit_code_4() -> None:
    with socket.create_server((HOST, 0)) as taken:
        port = taken.getsockname()[1]
        with _process("--port", str(port)) as process:
            out, err = process.communicate(timeout=10)
    assert (process.returncode, out) == (4, "")
    assert err == f"fake router: {HOST}:{port} is in use; expected a free port, or 0 for any\n"


@pytest.mark.parametrize(
    "options",
    [
        ("--port", "70000"),
        ("--port", "x"),
        ("--nonsense",),
        ("--service", "engine:0,1"),
        ("--port", "0") * 17,
        ("--tls-name", "router"),
        ("--tls-ca", "ca.pem", "--tls-name", ""),
    ],
)
def test_wrong_options_are_exit_code_2(options: tuple[str, ...]) -> None:
    with _process(*options) as process:
        _, err = process.communicate(timeout=10)
    assert process.returncode == 2
    assert "usage" in err
