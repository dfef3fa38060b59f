"""Who listens where a subject is called: its processes, on this machine alone."""

import os
import socket
import subprocess
import sys

import pytest

from suites.load.listeners import who_listens_at

_WAITS = "import sys; print(flush=True); sys.stdin.read()"


def test_all_processes_that_hold_a_listening_socket_are_found() -> None:
    """A worker that was given it does as much of the work as who opened it; who is connected to it does none."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = listening.getsockname()
        worker = subprocess.Popen(
            (sys.executable, "-I", "-S", "-c", _WAITS),
            pass_fds=(listening.fileno(),),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        with worker, socket.create_connection(address):
            assert worker.stdout is not None
            worker.stdout.readline()
            assert who_listens_at(address) == sorted((os.getpid(), worker.pid))
            assert who_listens_at(("localhost", address[1])) == sorted((os.getpid(), worker.pid))
            worker.communicate()
        assert who_listens_at(address) == [os.getpid()]
    assert who_listens_at(address) == []


@pytest.mark.parametrize("host", ["203.0.113.77", "no-such-host.invalid"])
def test_who_listens_on_another_machine_is_not_known(host: str) -> None:
    """Though somebody listens at the same port of this one."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        assert who_listens_at((host, listening.getsockname()[1])) == []


def test_what_passes_on_to_a_container_does_not_do_its_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Docker's own proxy holds the port."""
    monkeypatch.setattr("suites.load.listeners._name", lambda _: "docker-proxy")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        assert who_listens_at(listening.getsockname()) == []
