"""What a compose file is told of one instance: environment variables, each the placeholder of a subject file."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from suites.way import Address, Upstreams

_IMAGE = "python:3.12-slim-bookworm"  # as compose/Dockerfile has it


def base_image() -> str:
    """Of what we put beside the containers of a stack: it has Python."""
    return os.environ.get("BASE_IMAGE", _IMAGE)


def variables(
    upstreams: Sequence[Address],
    ports: Mapping[str, int],
    folder: Path,
    host: str,
    hosts: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, str]:
    """By name. ports, hosts: of its own services; folder: on this machine, what an instance's containers may mount.
    host: where what listens has to.
    """
    led = Upstreams.of(upstreams)
    told = {**hosts, **{name: str(port) for name, port in ports.items()}}
    told |= {
        "RETRYPROOF_DIR": str(folder),
        "RETRYPROOF_HOST": host,
        "RETRYPROOF_SCHEME": "https" if led.way.tls else "http",
        "RETRYPROOF_MAX_CONNECTIONS": str(led.way.max_connections),
        "RETRYPROOF_NAME_SERVER": "" if led.name_server is None else "{}:{}".format(*led.name_server),
    }
    for n, (host_of, port) in enumerate(upstreams):
        told[f"RETRYPROOF_UPSTREAM_{n}"] = f"{host_of}:{port}"
        told[f"RETRYPROOF_UPSTREAM_{n}_HOST"] = host_of
        told[f"RETRYPROOF_UPSTREAM_{n}_PORT"] = str(port)
    return told
