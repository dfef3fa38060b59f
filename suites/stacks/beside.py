"""Containers of ours beside those of a compose file, each a few words of Python or none; of an engine, by its SDK."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import docker
from docker.errors import NotFound
from docker.models.containers import Container

from suites.stacks import no_names
from suites.stacks.container import Contained, in_words
from suites.stacks.network import Place

OF_PROJECT = "com.docker.compose.project"
OF_SERVICE = "com.docker.compose.service"
_NOBODY = "65534"


class Beside:
    """Those of one engine. Every method blocks, and raises StackError where the engine fails."""

    def __init__(self, client: docker.DockerClient) -> None:
        self._client = client

    def keep_place(self, project: str, address: str, image: str) -> str:
        """One that only says that it knows no names stands in the network of that project, at that address: the path by
        which its kernel knows its network.
        """
        words = ["python3", "-c", Path(no_names.__file__).read_text("utf-8")]
        order = {"entrypoint": words, "labels": {OF_PROJECT: project}, "name": f"{project}-driver", "user": "root"}
        made = self._begun(image, order, Place(network=project, address=address))
        return str(made.attrs["NetworkSettings"]["SandboxKey"])

    def begin(self, project: str, service: str, words: Sequence[str], image: str, place: Place) -> Contained:
        """One that runs these words, as if it were that service of the project."""
        labels = {OF_PROJECT: project, OF_SERVICE: service}
        order = {"entrypoint": list(words), "labels": labels, "name": f"{project}_{service}", "user": _NOBODY}
        return Contained(service, self._begun(image, order, place), self._client.networks.get)

    def _begun(self, image: str, order: dict[str, Any], place: Place) -> Container:
        """It runs. The image is pulled where it is not here."""
        low = self._client.api
        with in_words(f"no container of {image!r} (BASE_IMAGE) beside those of a stack"):
            try:
                self._client.images.get(image)
            except NotFound:
                self._client.images.pull(image)
            if place.address:
                aliases = [place.alias] if place.alias else None
                joined = {place.network: low.create_endpoint_config(ipv4_address=place.address, aliases=aliases)}
                order = {**order, "networking_config": low.create_networking_config(joined)}
            host = low.create_host_config(network_mode=place.network, init=True)
            made = low.create_container(image, host_config=host, **order)
            low.start(made)
            return self._client.containers.get(made["Id"])
