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
def contained() -> Iterator[Any]:
    """One that does nothing, on a network of its own."""
    docker_here()
    import docker
    from docker.types import IPAMConfig, IPAMPool

    from suites.stacks.container import Contained

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
        yield Contained("router", made, client.networks.get)
    finally:
        for left in client.containers.list(all=True, filters={"label": f"com.docker.compose.project={name}"}):
            left.remove(force=True)
        network.remove()


@pytest.mark.parametrize("how", [how for how in Disturbing if how.queueing is None or lacks(how.queueing) is None])
def test_what_is_done_to_a_container_is_seen_and_undone(contained: Any, how: Disturbing) -> None:
    """Afterwards it runs, on the address that it had, and serves its network again."""
    before = contained.state()
    contained.disturb(how)
    assert is_disturbed(how, before, contained.state())
    contained.calm()
    after = contained.state()
    assert (after.running, after.paused, after.addresses) == (True, False, before.addresses)
    assert not is_disturbed(how, before, after) or how in (Disturbing.RESTART, Disturbing.RECREATE)
