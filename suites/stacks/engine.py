"""What is asked of an engine through the Docker SDK, and what it says. Every call blocks; whoever must
not wait asks on a thread of its own (`suites/side_thread.py`).
"""

import math
import os
import socket
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import docker
from docker.errors import APIError, NotFound
from docker.models.containers import Container
from docker.types import IPAMConfig, IPAMPool
from requests.exceptions import ReadTimeout

from suites.stacks.beside import OF_PROJECT, OF_SERVICE, Beside
from suites.stacks.container import Contained, in_words, state_of
from suites.stacks.errors import StackError
from suites.stacks.health import LOOK_S, passes
from suites.stacks.kind import EngineKind

USUAL = "unix:///var/run/docker.sock"  # where an engine is if nobody says otherwise
_STAGE = "retryproof.stage"  # of an image that a change of our source makes anew (compose/Dockerfile)
_ANSWER_S = 30  # within which an engine answers, whatever it is asked
_NOBODY, _SOME_BYTES = "retryproof-nobody", 1 << 30
_REMOVALS = 5  # a container that is on its way out is waited for
WHERE = (
    "start Docker (Debian: apt-get install docker.io docker-compose; dockerd), or name another engine, a rootless one "
    "or Podman's socket, in DOCKER_HOST"
)


class Engine:
    """A Docker engine that answers. Made by `connect`; every method raises StackError where it fails."""

    def __init__(self, client: docker.DockerClient) -> None:
        self._client = client
        self.beside = Beside(client)
        self.kind = EngineKind.of(client.version(), client.info())

    @staticmethod
    def connect() -> "Engine":
        """The one that DOCKER_HOST names, or the usual one. Raises StackError, saying what is missing."""
        _require_listening()
        with in_words("no Docker engine answers", WHERE):
            client = docker.from_env(timeout=_ANSWER_S)
            client.ping()
            return Engine(client)

    def close(self) -> None:
        """Its connections are closed."""
        self._client.close()

    def changes_limits(self) -> bool:
        """Of a container that runs. Told by what is said of one that is not there: who cannot, as Podman 4.3, does
        not know such an order.
        """
        with in_words("the engine does not say whether it changes limits"):
            try:
                self._client.api.update_container(_NOBODY, mem_limit=_SOME_BYTES)
            except NotFound as error:
                return _NOBODY in str(error.explanation)
        return True

    @property
    def advice(self) -> tuple[str, ...]:
        """What to do where a stack does not come up; nothing where nothing is known."""
        advice = self.kind.advice(Path("/proc/self/uid_map").read_text())
        return (advice,) if advice else ()

    def image_of(self, name: str) -> str | None:
        """The short id of that image; None where it is not here."""
        with in_words(f"the engine does not say whether it has the image {name!r}"):
            try:
                return str(self._client.images.get(name).short_id)
            except NotFound:
                return None

    def forget_replaced(self) -> None:
        """Images of our source that a newer build has taken the name from are gone, but for the last of each stage: the
        next build begins with it.
        """
        with in_words("the engine does not say which images are replaced"):
            found = self._client.images.list(filters={"label": _STAGE, "dangling": True})
            newest: dict[str, str] = {}
            for image in sorted(found, key=lambda one: str(one.attrs["Created"])):
                newest[image.labels[_STAGE]] = image.id
            for image in found:
                if image.id not in newest.values():
                    # A container of another run, or a build, stands on it; or a disk that is busy takes its time.
                    with suppress(APIError, ReadTimeout):
                        self._client.images.remove(image.id)

    def create_network(self, project: str, prefix: str) -> bool:
        """A network of that project, of the addresses that begin so, from which nothing leads out; False where another
        has them. The upper half is handed out to nobody who does not ask for it.
        """
        pool = IPAMPool(subnet=f"{prefix}.0/24", iprange=f"{prefix}.0/25", gateway=f"{prefix}.1")
        with in_words("the engine made no network"):
            try:
                self._client.networks.create(
                    project,
                    driver="bridge",
                    internal=True,
                    ipam=IPAMConfig(pool_configs=[pool]),
                    labels={OF_PROJECT: project},
                )
            except APIError as error:
                if "overlap" not in str(error):
                    raise
                return False
            return True

    def projects(self) -> list[str]:
        """Every compose project of which there is anything."""
        with in_words("the engine does not say what runs"):
            labels = {"label": OF_PROJECT}
            found = [one.labels for one in self._client.containers.list(all=True, ignore_removed=True, filters=labels)]
            found += [one.attrs.get("Labels") or {} for one in self._client.networks.list(filters=labels)]
            found += [one.attrs.get("Labels") or {} for one in self._client.volumes.list(filters=labels)]
        return sorted({labels[OF_PROJECT] for labels in found if OF_PROJECT in labels})

    def remove(self, *projects: str) -> None:
        """Nothing of those projects is there any more: containers, networks, volumes; images stay. Of one that stands
        on the network of another, with that one or before it.
        """
        for project in projects:
            with in_words(f"{project} is not all removed"):
                self._remove_containers({"label": f"{OF_PROJECT}={project}"})
        for project in projects:
            with in_words(f"{project} is not all removed"):
                self._remove_rest({"label": f"{OF_PROJECT}={project}"})

    def _remove_containers(self, labels: dict[str, str]) -> None:
        for _ in range(_REMOVALS):
            left = self._client.containers.list(all=True, ignore_removed=True, filters=labels)
            for container in left:
                with suppress(NotFound):
                    container.remove(force=True, v=True)
            if not left:
                return

    def _remove_rest(self, labels: dict[str, str]) -> None:
        for network in self._client.networks.list(filters=labels):
            with suppress(NotFound):
                network.remove()
        for volume in self._client.volumes.list(filters=labels):
            with suppress(NotFound):
                volume.remove(force=True)

    def container(self, project: str, service: str) -> Contained:
        """The container of that service. Raises StackError unless there is one."""
        with in_words(f"the engine does not say what runs of {service!r}"):
            found = self._of(project, service)
        if len(found) != 1:
            raise StackError(f"{len(found)} containers of the service {service!r}; expected one")
        return Contained(service, found[0], self._client.networks.get)

    def logs(self, project: str) -> dict[str, bytes]:
        """What each container has written, by its service."""
        with in_words("the engine does not show logs"):
            return {one.labels.get(OF_SERVICE, one.name): one.logs() for one in self._of(project)}

    def require_healthy(self, project: str, within_s: float, *, but: str = "") -> None:
        """Every service that has a health check passes it, but that one; told by events where the engine makes them.
        Raises StackError where one ends, or is not healthy in time.
        """
        until = math.ceil(time.time() + within_s)
        with in_words("the engine tells no events"):
            filters = {"label": f"{OF_PROJECT}={project}"}
            events = self._client.events(since=int(time.time()), until=until, filters=filters, decode=True)
            try:
                while waited_for := self._unhealthy(project, but):
                    if not (time.time() < until if self.kind.podman else _next_of(events, ("health_status", "die"))):
                        raise StackError(f"not healthy within {within_s:g} s: {', '.join(waited_for)}")
                    if self.kind.podman:
                        time.sleep(LOOK_S)
            finally:
                with suppress(AttributeError, OSError):  # it may be over already
                    events.close()

    def _unhealthy(self, project: str, but: str) -> list[str]:
        waited_for = []
        for container in self._of(project):
            service, state = container.labels.get(OF_SERVICE, container.name), state_of(container)
            if not state.running:
                raise StackError(f"the container of {service!r} has {state.in_words()}; expected that it stays")
            if service != but and state.is_unwell and not (self.kind.podman and passes(container)):
                waited_for.append(f"{service!r} is {state.health}")
        return waited_for

    def _of(self, project: str, service: str | None = None) -> list[Container]:
        labels = [f"{OF_PROJECT}={project}", *([f"{OF_SERVICE}={service}"] if service else [])]
        return list(self._client.containers.list(all=True, ignore_removed=True, filters={"label": labels}))


def _require_listening() -> None:
    """Somebody is at the socket; asked here, since the SDK leaves its own open where nobody is. Raises StackError."""
    scheme, _, path = os.environ.get("DOCKER_HOST", USUAL).partition("://")
    if scheme != "unix":
        return
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(_ANSWER_S)
        try:
            sock.connect(path)
        except OSError as error:
            raise StackError(f"no Docker engine answers ({path!r}: {error.strerror or error}); {WHERE}") from None


def _next_of(events: Iterable[Any], kinds: tuple[str, ...]) -> bool:
    """One of these has happened; False when no more events come."""
    return any(str(event.get("Action", "")).partition(":")[0] in kinds for event in events)
