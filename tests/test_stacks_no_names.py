"""Who knows no names says so at once, in the words of DNS, and falls over nothing that comes."""

import socket
from typing import Any

import dns.message
import dns.rcode
import pytest

from suites.stacks import no_names


@pytest.mark.parametrize("kind", ["A", "AAAA"])
@pytest.mark.parametrize("edns", [False, True])
def test_a_name_does_not_exist(kind: str, edns: bool) -> None:
    """The question comes back with it, alone."""
    asked = dns.message.make_query("router-12", kind, use_edns=edns)
    answered = no_names.answer(asked.to_wire())
    assert answered is not None
    said = dns.message.from_wire(answered)
    assert asked.is_response(said)
    assert (said.rcode(), said.answer) == (dns.rcode.NXDOMAIN, [])


def test_what_is_no_question_gets_no_answer() -> None:
    """Nor does an answer, or two would go on for ever."""
    asked = dns.message.make_query("router-12", "A").to_wire()
    answered = no_names.answer(asked)
    assert answered is not None
    assert no_names.answer(answered) is None
    assert all(no_names.answer(asked[:cut]) is None for cut in range(len(asked)))
    assert no_names.answer(asked[:12] + b"\xff" * 20) is None


def test_it_is_asked_over_udp() -> None:
    """By one after the other."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server, socket.socket(type=socket.SOCK_DGRAM) as client:
        server.bind(("127.0.0.1", 0))
        client.connect(server.getsockname())
        client.settimeout(10)
        client.send(b"none")
        no_names.serve_one(server)
        asked = dns.message.make_query("router-12", "A")
        client.send(asked.to_wire())
        no_names.serve_one(server)
        assert asked.is_response(dns.message.from_wire(client.recv(512)))


def test_whom_no_answer_can_be_sent_to_ends_nothing() -> None:
    """It goes on serving the others."""
    asked = dns.message.make_query("router-12", "A").to_wire()

    class Unanswerable(socket.socket):
        def recvfrom(self, *_: Any) -> Any:
            return asked, ("127.0.0.1", 0)  # a kernel sends nothing there: EINVAL

    with Unanswerable(socket.AF_INET, socket.SOCK_DGRAM) as server:
        no_names.serve_one(server)
