"""Who listens at an address of this machine: the processes of a subject that nobody here has started."""

import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from suites.subject import Address

_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_LISTEN = "0A"  # include/net/tcp_states.h
_PASSES_ON = "docker-proxy"  # listens for a container, and does none of its work


def who_listens_at(address: Address) -> list[int]:
    """Those that hold a socket which listens at its port; none where that is on another machine or in a container, and
    where we may not look into a process.
    """
    host, port = address
    if not _is_here(host):
        return []
    links = {f"socket:[{inode}]" for table in _TABLES for inode in _inodes(table, port)}
    pids = (int(name) for name in os.listdir("/proc") if name.isdecimal())
    found = [pid for pid in pids if _holds(pid, links)]
    return [] if any(_name(pid) == _PASSES_ON for pid in found) else sorted(found)


def _is_here(host: str) -> bool:
    """An address of this machine is one that can be bound."""
    try:
        families = {(family, where) for family, _, _, _, where in socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)}
    except OSError:
        return False
    return any(_is_bound(family, where) for family, where in families)


def _is_bound(family: int, where: object) -> bool:
    with socket.socket(family, socket.SOCK_STREAM) as sock, suppress(OSError):
        sock.bind(where)  # type: ignore[arg-type]
        return True
    return False


def _inodes(table: Path, port: int) -> Iterator[str]:
    """proc_pid_net(5): local address, state and inode are its second, fourth and tenth words."""
    with suppress(OSError):
        for line in table.read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == _LISTEN and int(words[1].rpartition(":")[2], 16) == port:
                yield words[9]


def _holds(pid: int, links: set[str]) -> bool:
    folder = f"/proc/{pid}/fd"
    with suppress(OSError):
        for name in os.listdir(folder):
            with suppress(OSError):
                if os.readlink(f"{folder}/{name}") in links:
                    return True
    return False


def _name(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""
