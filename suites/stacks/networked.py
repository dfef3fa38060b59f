"""A compose file whose services stand on a network that this process has joined, whatever it says itself."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from suites.stacks.labels import LabelError
from suites.stacks.network import StackNetwork

LISTENING = "0.0.0.0"  # in a container that stands on no other network than ours
_FIRST_PORT = 8_080
_HOST_OF = re.compile(r"\bRETRYPROOF_HOST_([A-Z0-9_]+)\b")
_OURS = "retryproof"


def services_called(services: Mapping[str, Any]) -> dict[str, str]:
    """Those of them whose hosts any of them mentions, by the variable. Raises LabelError for one that is none."""
    by_name = {_in_capitals(service): service for service in services}
    mentioned = sorted(set(_HOST_OF.findall(str(services))))
    for name in mentioned:
        if name not in by_name:
            raise LabelError(f"RETRYPROOF_HOST_{name} names no service; expected one of {', '.join(sorted(by_name))}")
    return {f"RETRYPROOF_HOST_{name}": by_name[name] for name in mentioned}


def host_of(service: str, project: str) -> str:
    """By that name others find the service, and no other project's, on a network that several share."""
    return f"{_in_capitals(service).lower().replace('_', '-')}-{project.rpartition('-')[2]}"


def ports_there(names: Iterable[str]) -> dict[str, int]:
    """One for each. Beside these there listens in each container only Docker's name server, on a port that the kernel
    hands out; what it hands out begins far above (ip_local_port_range).
    """
    return {name: number for number, name in enumerate(names, start=_FIRST_PORT)}


def networked(compose: Mapping[str, Any], network: StackNetwork, addresses: Mapping[str, str], project: str) -> str:
    """The same file, its services at these addresses of that network alone. What Docker does not know by its name,
    nobody knows: whoever asks for a container that is down is told so at once.
    """
    services = {
        name: {
            **{key: value for key, value in service.items() if key != "network_mode"},
            "dns": [network.address],  # who knows none
            "networks": {_OURS: {"ipv4_address": addresses[name], "aliases": [host_of(name, project)]}},
        }
        for name, service in compose["services"].items()
        if name in addresses
    }
    ours = {_OURS: {"external": True, "name": network.project}}
    return json.dumps({**compose, "services": services, "networks": ours})


def _in_capitals(service: str) -> str:
    return re.sub(r"[^A-Z0-9]", "_", service.upper())
