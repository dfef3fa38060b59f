"""What processes take, as the kernel says: CPU, memory of their own, and sockets."""

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from suites.load.found import Use

_TICKS_A_S = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_CUTIME, _CSTIME = 13, 14  # in /proc/PID/stat, behind the name of the program (proc(5): fields 16 and 17)
_SCHEDULED = 2  # CPUCLOCK_SCHED: the scheduler's count, in nanoseconds


def session_of(leader: int) -> list[int]:
    """Every process of the session that it leads: its workers, too."""
    return [pid for name in os.listdir("/proc") if name.isdecimal() and _leads(leader, pid := int(name))]


def _leads(leader: int, pid: int) -> bool:
    try:
        return os.getsid(pid) == leader
    except OSError:
        return False  # it has ended since


@dataclass(slots=True)
class Watched:
    """Some processes. Their files other than sockets are counted when they are first looked at, before any load: to
    look at each of 20,000 takes too long.
    """

    pids: Callable[[], Iterable[int]]
    _others: dict[int, int] = field(default_factory=dict)

    @staticmethod
    def session(leader: int) -> "Watched":
        """A process, and what it has started."""
        return Watched(partial(session_of, leader))

    @staticmethod
    def these(pids: Sequence[int]) -> "Watched":
        """Those alone."""
        return Watched(lambda: pids)

    def use(self) -> Use:
        """Now. What has ended takes nothing more; its CPU is in that of who waited for it."""
        cpu_s, resident, sockets = 0.0, 0, 0
        for pid in self.pids():
            try:
                cpu_s += own_cpu_s(pid) + waited_cpu_s((Path("/proc") / str(pid) / "stat").read_text())
                resident += resident_in((Path("/proc") / str(pid) / "statm").read_text())
                sockets += self._sockets(pid)
            except (OSError, ValueError):
                continue  # it has ended since
        return Use(cpu_s=cpu_s, resident_bytes=resident, sockets=sockets)

    def _sockets(self, pid: int) -> int:
        folder = f"/proc/{pid}/fd"
        if pid not in self._others:
            links = [_link(f"{folder}/{name}") for name in os.listdir(folder)]
            self._others[pid] = sum(not link.startswith("socket:") for link in links)
        return max(0, open_files(folder) - self._others[pid])


def open_files(folder: str) -> int:
    """How many files a process has open; Linux from 6.2 on says it as the size of that folder."""
    return os.stat(folder).st_size or len(os.listdir(folder))


def own_cpu_s(pid: int) -> float:
    """Seconds of CPU that a process has had, user and kernel, by the clock that clock_getcpuclockid(3) names. Raises
    OSError where it is no more.
    """
    return time.clock_gettime((~pid << 3) | _SCHEDULED)


def waited_cpu_s(stat: str) -> float:
    """Those of the processes that it has waited for."""
    fields = stat.rpartition(")")[2].split()
    return sum(int(field) for field in fields[_CUTIME : _CSTIME + 1]) / _TICKS_A_S


def resident_in(statm: str) -> int:
    """Bytes of memory that it shares with nobody."""
    _size, resident, shared, *_rest = statm.split()
    return max(0, int(resident) - int(shared)) * _PAGE


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""
