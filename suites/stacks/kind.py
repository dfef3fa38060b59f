"""Which kind of engine it is that answers, by what it says of itself, and what is otherwise there than with Docker."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_PODMAN = "Podman Engine"
_ALL_USERS = 4_294_967_295  # user_namespaces(7): the first namespace maps every id
_NOT_REACHED = (
    "This Docker is rootless: what it calls the host's network is one of its own, in which nobody here is. Run this "
    "command in it: `nsenter -U --preserve-credentials -n -t $(cat $XDG_RUNTIME_DIR/docker.pid) retryproof ...`"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineKind:
    """podman: it leaves health checks to systemd, and without one makes none. rootless: an ordinary user runs it."""

    version: str
    podman: bool = False
    rootless: bool = False

    @staticmethod
    def of(version: Mapping[str, Any], info: Mapping[str, Any]) -> "EngineKind":
        """What those answers say."""
        return EngineKind(
            version=str(version["Version"]),
            podman=any(part.get("Name") == _PODMAN for part in version.get("Components") or ()),
            rootless="name=rootless" in (info.get("SecurityOptions") or ()),
        )

    def __str__(self) -> str:
        """With its version, for a report."""
        return f"{'Podman' if self.podman else 'Docker'} {self.version}"

    def advice(self, uid_map: str) -> str:
        """What to do where a stack on it does not come up; empty where nothing is known. uid_map: of this process."""
        if self.podman or not self.rootless or uid_map.split()[2:3] != [str(_ALL_USERS)]:
            return ""
        return _NOT_REACHED
