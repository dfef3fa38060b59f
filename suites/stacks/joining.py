"""This process joins a network of Docker's: as one more container, whose network is ours from then on."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fake_router import own_network
from fake_router.identity import IDENTITY
from suites.stacks.engine import USUAL, Engine
from suites.stacks.errors import StackError
from suites.stacks.network import StackNetwork, has_joined, joined
from suites.stacks.owner import Owner
from suites.stacks.variables import base_image

_SUBNETS = 512  # of 198.18.0.0/15, which RFC 2544 keeps for tests of networks
_LOCAL = "unix://"
WHERE = "expected an engine on this machine that runs as root, and to be root here: the host's network does without"


_made: list[tuple[Engine, str]] = []  # by `join`, with the project that all of it belongs to


def join() -> None:
    """Once; call it before any thread is started, and `leave` in any case. Raises StackError, and OSError where the
    kernel refuses.
    """
    if joined() is not None:
        return
    if not os.environ.get("DOCKER_HOST", USUAL).startswith(_LOCAL):
        raise StackError(f"DOCKER_HOST is {os.environ['DOCKER_HOST']!r}: no network of that engine is here; {WHERE}")
    engine = Engine.connect()
    project = Owner.me().network_project
    with _uninterrupted():  # what an engine was asked for comes, whoever waits for it no more
        _made.append((engine, project))
        network = _created(engine, project)
        own_network.join(_namespace(engine, network))
    IDENTITY.answers_to(network.address)
    has_joined(network)


def leave() -> None:
    """What was made for it is there no more; this process can go nowhere from there, and ends. Safe to call twice."""
    while _made:
        engine, project = _made.pop()
        with _uninterrupted(), suppress(StackError):  # the next run removes what an engine that is gone does not
            engine.remove(project)
        engine.close()


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """What Ctrl-C and the like do is done afterwards."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _created(engine: Engine, project: str) -> StackNetwork:
    """In the first subnet that nobody has."""
    for n in range(_SUBNETS):
        place = (os.getpid() + n) % _SUBNETS
        network = StackNetwork(project=project, prefix=f"198.{18 + place // 256}.{place % 256}")
        if engine.create_network(project, network.prefix):
            return network
    raise StackError("198.18.0.0/15 is used up by networks of the engine; expected a subnet: `docker network prune`")


def _namespace(engine: Engine, network: StackNetwork) -> Path:
    """The file by which the kernel knows the network of a container that only keeps our place. Raises StackError."""
    path = Path(engine.beside.keep_place(network.project, network.address, base_image()))
    if not path.is_file():
        raise StackError(f"the network of a container is at {str(path)!r}, which is not here; {WHERE}")
    return path
