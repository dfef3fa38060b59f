"""A stack on a network that its driver has joined: the same file, at addresses of its own, by names of its own."""

import json
from pathlib import Path
from typing import Any

import pytest

from suites.stacks.compose_file import load_stack
from suites.stacks.errors import StackError
from suites.stacks.labels import LabelError
from suites.stacks.network import ELSEWHERE, StackNetwork, moved_address
from suites.stacks.networked import host_of, networked, ports_there, services_called
from suites.stacks.owner import Owner
from suites.subject_reader import SubjectFileError

COMPOSE = {
    "services": {
        "forwarder": {"image": "a", "network_mode": "host"},
        "a_router": {"image": "b", "networks": ["theirs"]},
        "by-hand": {"image": "c", "profiles": ["debug"]},
    },
    "volumes": {"data": {}},
}
FILE = """
services:
  forwarder:
    image: a
    environment: {ROUTER: "${RETRYPROOF_HOST_%s:-127.0.0.1}"}
    labels: {retryproof.role: forwarder, retryproof.like: nginx}
"""


def network() -> StackNetwork:
    """One that nobody else is on."""
    return StackNetwork(project="retryproof-1-0", prefix="198.18.7")


def test_every_service_stands_on_it_alone() -> None:
    """Whatever network the file names; all else of it stays, but for what is brought up by hand."""
    addresses = {"forwarder": "198.18.7.3", "a_router": "198.18.7.4"}
    written = json.loads(networked(COMPOSE, network(), addresses, "retryproof-1-12"))
    places = {"ipv4_address": "198.18.7.4", "aliases": ["a-router-12"]}
    assert written["services"]["a_router"] == {"image": "b", "dns": ["198.18.7.2"], "networks": {"retryproof": places}}
    assert sorted(written["services"]) == ["a_router", "forwarder"]
    assert "network_mode" not in written["services"]["forwarder"]
    assert written["networks"] == {"retryproof": {"external": True, "name": "retryproof-1-0"}}
    assert written["volumes"] == COMPOSE["volumes"]


def test_two_instances_are_found_by_different_names() -> None:
    """They share the network, and each calls its own router."""
    assert [host_of("a_router", f"retryproof-1-{n}") for n in (1, 2)] == ["a-router-1", "a-router-2"]


def test_its_ports_are_none_that_a_kernel_hands_out() -> None:
    """Docker's name server has one of those in each container, which then nobody can listen on."""
    ports = ports_there(["RETRYPROOF_PORT", "RETRYPROOF_PORT_ROUTER"])
    lowest = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    assert sorted(ports) == ["RETRYPROOF_PORT", "RETRYPROOF_PORT_ROUTER"]
    assert len(set(ports.values())) == 2
    assert all(1024 <= port < lowest for port in ports.values())


def test_an_address_is_nobody_else_s_until_it_is_given_back() -> None:
    """Nor where anybody is moved to; and where there is none left, it says what to do."""
    place = network()
    taken = [address for _ in range(41) for address in place.take(3)]
    assert len({place.address, *taken, *map(moved_address, taken)}) == 2 * len(taken) + 1
    assert all(int(moved_address(one).rpartition(".")[2]) > ELSEWHERE for one in taken)
    with pytest.raises(StackError, match=r"126 containers side by side .* at most 124: .* --lanes"):
        place.take(3)
    (last,) = place.take(1)
    assert last not in taken, "nothing was taken of what there was too little of"
    place.give_back([taken[5]])
    assert place.take(1) == [taken[5]]


def test_a_host_is_asked_for_by_the_name_of_a_service(tmp_path: Path) -> None:
    """Any other is refused, naming those there are."""
    services: dict[str, Any] = {"a_router": {}, "b": {"command": ["${RETRYPROOF_HOST}:${RETRYPROOF_HOST_A_ROUTER:-x}"]}}
    assert services_called(services) == {"RETRYPROOF_HOST_A_ROUTER": "a_router"}
    with pytest.raises(LabelError, match="RETRYPROOF_HOST_ROUTER names no service; expected one of A_ROUTER, B"):
        services_called({"a_router": {}, "b": {"command": "${RETRYPROOF_HOST_ROUTER}"}})
    path = tmp_path / "compose.yaml"
    path.write_text(FILE % "ROUTR")
    with pytest.raises(SubjectFileError, match="RETRYPROOF_HOST_ROUTR names no service; expected one of FORWARDER"):
        load_stack(str(path))


def test_faults_of_networks_are_reached_there_alone(tmp_path: Path) -> None:
    """Its routers are where the driver is on it."""
    path = tmp_path / "compose.yaml"
    path.write_text(FILE % "FORWARDER")
    there, here = load_stack(str(path), network()).file.spec, load_stack(str(path)).file.spec
    assert (there.network, there.host, here.network, here.host) == (True, "198.18.7.2", False, "127.0.0.1")


def test_the_network_of_a_process_outlives_its_instances() -> None:
    """It is removed last; another process knows it for what it is all the same."""
    me = Owner.me()
    assert not me.owns(me.network_project)
    assert me.owns(me.next_project())
    assert not Owner.is_left(me.network_project)
