"""What this machine allows, read from it."""

import os
import resource
from pathlib import Path

from suites.load.limits import Limits

_SOMAXCONN = Path("/proc/sys/net/core/somaxconn")
_PACKETS = Path("/proc/sys/net/core/netdev_max_backlog")
_PORTS = Path("/proc/sys/net/ipv4/ip_local_port_range")
_MEMORY = Path("/proc/meminfo")
_UNLIMITED_FILES = 1 << 20


def limits_here() -> Limits:
    """The limits of this process, which those that it starts inherit. Raises OSError where /proc cannot be read."""
    soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    first, last = map(int, _PORTS.read_text().split())
    return Limits(
        files=_UNLIMITED_FILES if soft == resource.RLIM_INFINITY else soft,
        backlog=int(_SOMAXCONN.read_text()),
        packets=int(_PACKETS.read_text()),
        ports=last - first + 1,
        cores=len(os.sched_getaffinity(0)),
        memory_bytes=available_bytes(_MEMORY.read_text()),
    )


def available_bytes(meminfo: str) -> int:
    """What new programs can have without swapping. Raises ValueError for a text that does not say."""
    for line in meminfo.splitlines():
        name, _, rest = line.partition(":")
        if name == "MemAvailable":
            return int(rest.split()[0]) * 1024
    raise ValueError(f"/proc/meminfo is {meminfo[:80]!r}; expected a line MemAvailable")
