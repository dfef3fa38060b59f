"""What a load needs of this machine, and how it is laid out over processes: arithmetic on numbers that were read."""

import math
from dataclasses import dataclass

SPARE_FILES = 600  # of a process, beside the sockets of its operations: its libraries, logs, listeners, and some room
LISTENING = 8  # the sockets of a process that listen
PORTS_KEPT = 0.9  # of the ports of a source address: some are still in TIME_WAIT
SLOTS_OF_CALLER = 16_384  # operations of one caller process, so that it is not late for them
FEWEST_CONNECTING = 16  # at a time, of one caller process
_MB = 1024**2
PROCESS_BYTES = 70 * _MB  # of a process of ours without any operation
CALLER_BYTES = 14 * 1024  # of one operation in flight, with its sockets in the kernel
ROUTER_BYTES = 24 * 1024
SUBJECT_BYTES = 64 * 1024


class LimitError(Exception):
    """This machine cannot carry that load; the message names the number that is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What was read of this machine. files: that one process may have open; backlog: connections that may wait to be
    accepted at one listener (net.core.somaxconn); packets: that may wait on loopback before further ones are dropped
    (net.core.netdev_max_backlog); ports: of one source address to one destination.
    """

    files: int
    backlog: int
    packets: int
    ports: int
    cores: int
    memory_bytes: int

    def __post_init__(self) -> None:
        for name in ("files", "backlog", "packets", "ports", "cores", "memory_bytes"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)!r}; expected a number above 0")

    def words(self) -> str:
        """All of them, for a person."""
        return (
            f"{self.files:,} files a process, {self.backlog:,} connections may wait at a listener, "
            f"{self.packets:,} packets on loopback, "
            f"{self.ports:,} ports a source address, {self.cores} cores, "
            f"{self.memory_bytes / 1024**3:.1f} GiB of memory free"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be in flight, and the numbers of processes that were asked for (None: as many as it takes). most: so
    many instances of the subject there can be (None: any number); workers: over which caller processes are dealt out
    (0: over none); sockets: that one operation takes in the subject; through: and in the one Toxiproxy on its way (0:
    there is none).
    """

    in_flight: int
    callers: int | None = None
    instances: int | None = None
    routers: int | None = None
    most: int | None = None
    through: int = 0
    workers: int = 0
    sockets: float = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """So many processes of each kind. sources: addresses from which every caller process connects. connecting: of one
    caller process, connections to one instance that are being made at a time, so that no backlog overflows.
    """

    routers: int
    instances: int
    callers: int
    sources: int
    connecting: int

    def words(self) -> str:
        """All of them, for a person."""
        return (
            f"{_counted(self.routers, 'router process', 'router processes')}, "
            f"{_counted(self.instances, 'instance of the subject', 'instances of the subject')}, "
            f"{_counted(self.callers, 'caller process', 'caller processes')} "
            f"from {_counted(self.sources, 'source address', 'source addresses')} each"
        )


def layout(limits: Limits, wanted: Wanted) -> Layout:
    """The fewest processes that can carry it. Raises LimitError with the number that is missing, and ValueError for
    more routers than there are instances to serve.
    """
    room = limits.files - SPARE_FILES
    if room < wanted.sockets:
        raise LimitError(
            f"{limits.files:,} files a process leave {max(0, room):,} for sockets; expected at least "
            f"{SPARE_FILES + math.ceil(wanted.sockets):,}: raise the limit with `ulimit -n`"
        )
    if wanted.through:
        _enough("Toxiproxy servers", wanted.in_flight, room // wanted.through, most=1)
    instances = _enough("instances", wanted.in_flight, int(room / wanted.sockets), wanted.instances, wanted.most)
    found = Layout(
        routers=_routers(wanted, instances, room),
        instances=instances,
        callers=_callers(wanted, room),
        sources=1,
        connecting=0,
    )
    _require_memory(limits, wanted, found)
    of_instance = math.ceil(wanted.in_flight / found.instances)
    ports = int(limits.ports * PORTS_KEPT)
    return Layout(
        routers=found.routers,
        instances=found.instances,
        callers=found.callers,
        # A connection that its caller has left keeps its port for a minute: twice as many as are in flight.
        sources=math.ceil(2 * of_instance / ports),
        connecting=max(FEWEST_CONNECTING, limits.backlog // 4 // found.callers),
    )


def _callers(wanted: Wanted, room: int) -> int:
    """As many as are not late where nobody has said how many."""
    least = _enough("caller processes", wanted.in_flight, room, wanted.callers)
    if wanted.callers:
        return least
    return max(least, math.ceil(wanted.in_flight / SLOTS_OF_CALLER), min(wanted.workers, wanted.in_flight))


def _routers(wanted: Wanted, instances: int, room: int) -> int:
    """Each serves whole instances, all of whose operations it may hold at once."""
    of_instance = math.ceil(wanted.in_flight / instances)
    least = math.ceil(instances / max(1, room // of_instance))
    if wanted.routers is not None and wanted.routers > instances:
        raise ValueError(
            f"{wanted.routers} router processes for {_counted(instances, 'instance', 'instances')} of the subject; "
            f"expected no more routers: ask for --instances {wanted.routers}, or leave the number out"
        )
    if wanted.routers is not None and wanted.routers < least:
        raise LimitError(
            f"{wanted.routers} router processes for {instances} instances with {of_instance:,} operations each, and "
            f"room for {room:,} in each router; expected {least}: leave the number out, or raise the limit of files"
        )
    return least if wanted.routers is None else wanted.routers


def _enough(what: str, in_flight: int, each: int, asked: int | None = None, most: int | None = None) -> int:
    """How many of these there have to be, each holding no more than so many operations."""
    least = max(1, math.ceil(in_flight / each))
    if most is not None and least > most:
        raise LimitError(
            f"{in_flight:,} in flight need {least} {what}, since each can hold {each:,}; expected no more than {most}: "
            f"ask for --in-flight {most * each}, or raise the limit of files with `ulimit -n`"
        )
    if asked is not None and asked < least:
        raise LimitError(
            f"{asked} {what} can hold {asked * each:,} operations in flight, {in_flight - asked * each:,} fewer than "
            f"{in_flight:,}; expected {least}: leave the number out, or raise the limit of files"
        )
    return least if asked is None else asked


def needed_bytes(wanted: Wanted, processes: Layout) -> int:
    """About the memory that all processes take together."""
    of_operation = CALLER_BYTES + ROUTER_BYTES + SUBJECT_BYTES
    count = processes.routers + processes.instances + processes.callers + 1
    return wanted.in_flight * of_operation + count * PROCESS_BYTES


def _require_memory(limits: Limits, wanted: Wanted, processes: Layout) -> None:
    needed = needed_bytes(wanted, processes)
    if needed > limits.memory_bytes:
        raise LimitError(
            f"{wanted.in_flight:,} in flight take about {needed / _MB:,.0f} MiB of memory, "
            f"{(needed - limits.memory_bytes) / _MB:,.0f} MiB more than are free; expected a machine with more, or "
            "fewer in flight"
        )


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
