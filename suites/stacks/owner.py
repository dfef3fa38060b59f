"""Whose a compose project is: its name says which process brought it up, so that others can tell when that is gone."""

import itertools
import os
import re
import socket
import zlib
from dataclasses import dataclass
from pathlib import Path

_PROJECT = re.compile(r"retryproof-([0-9a-f]{8})-(\d{1,10})-(\d{1,20})-(\d{1,9})")
_count = itertools.count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """A process on a host. started: clock ticks after the host's boot; two processes of one id differ by it."""

    host: str
    pid: int
    started: int

    @staticmethod
    def me() -> "Owner":
        """This process."""
        return Owner(host=_this_host(), pid=os.getpid(), started=_started(os.getpid()) or 0)

    @property
    def is_gone(self) -> bool:
        """It was of this host, and is no more. Of another host nobody here can tell."""
        return self.host == _this_host() and _started(self.pid) != self.started

    def owns(self, project: str) -> bool:
        """It has brought up the project of that name, which is an instance."""
        return owner_of(project) == self and project != self.network_project

    @staticmethod
    def is_left(project: str) -> bool:
        """Whoever brought up the project of that name is gone."""
        owner = owner_of(project)
        return owner is not None and owner.is_gone

    @property
    def network_project(self) -> str:
        """Of what is not one instance's: the network that it has joined."""
        return f"retryproof-{self.host}-{self.pid}-{self.started}-0"

    def next_project(self) -> str:
        """A name that no project of this process has had."""
        return f"retryproof-{self.host}-{self.pid}-{self.started}-{next(_count)}"


def owner_of(project: str) -> Owner | None:
    """Who brought up the project of that name; None for one that is not ours."""
    found = _PROJECT.fullmatch(project)
    return Owner(host=found[1], pid=int(found[2]), started=int(found[3])) if found else None


def _this_host() -> str:
    return f"{zlib.crc32(socket.gethostname().encode()):08x}"


def _started(pid: int) -> int | None:
    """proc(5): field 22 of stat, counted behind the name, which may hold anything."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    return int(stat.rpartition(")")[2].split()[19])
