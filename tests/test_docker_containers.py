"""Each thing that is done to a container is done, is seen in what the engine says, and is undone."""

from collections.abc import Iterator
from typing import Any

import pytest

from faults.disturbance import Disturbing
from suites.stacks.owner import Owner
from suites.stacks.shaping import lacks
from suites.stacks.state import is_disturbed
from tests.docker_engine import BASE, docker_here

pytestmark = pytest.mark.docker
SUBNET = "198.18.77.0/24"  # of those for tests of networks (RFC 2544); nothing is sent there


@pytest.fixture(scope="module")
def container() -> Iterator[tuple[Any, Any]]:
    """One that does nothing, on a network of its own; and how networks are found."""
    docker_here()
    import docker
    from docker.types import IPAMConfig, IPAMPool

    client = docker.from_env()
    labels = {"com.docker.compose.project": Owner.me().next_project()}
    pool = IPAMConfig(pool_configs=[IPAMPool(subnet=SUBNET)])
    name = labels["com.docker.compose.project"]
    network = client.networks.create(name, driver="bridge", internal=True, ipam=pool, labels=labels)
    try:
        made = client.containers.run(
            BASE,
            ["sleep", "600"],
            detach=True,
            network=name,
            cap_add=["NET_ADMIN"],
            init=True,
            labels=labels,
        )
        yield made, client.networks.get
        made.remove(force=True)
    finally:
        network.remove()


@pytest.mark.parametrize("how", [how for how in Disturbing if how.queueing is None or lacks(how.queueing) is None])
def test_what_is_done_to_a_container_is_seen_and_undone(container: tuple[Any, Any], how: Disturbing) -> None:
    """Afterwards it runs, on the address that it had, and serves its network again."""
    from suites.stacks.container import Contained

    contained = Contained("router", *container)
    before = contained.state()
    contained.disturb(how)
    assert is_disturbed(how, before, contained.state())
    contained.calm()
    after = contained.state()
    assert (after.running, after.paused, after.addresses) == (True, False, before.addresses)
    assert not is_disturbed(how, before, after) or how is Disturbing.RESTART
