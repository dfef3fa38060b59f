"""The network of Docker on which containers stand, and this process with them: joined once, as long as it lives."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from suites.stacks.errors import StackError

FIRST_SERVICE, LAST_SERVICE = 3, 126
ELSEWHERE = 128  # added to the address of a container that is moved: nobody else is given those


@dataclass(frozen=True, slots=True, kw_only=True)
class StackNetwork:
    """A network that this process has joined. project: the compose project that it belongs to, and its own name.
    address: ours. prefix: the three numbers with which all of its addresses begin.
    """

    project: str
    prefix: str
    _taken: set[str] = field(default_factory=set)

    @property
    def address(self) -> str:
        """Ours."""
        return f"{self.prefix}.2"

    def take(self, count: int) -> list[str]:
        """So many addresses that nobody has. Raises StackError, with none taken, where fewer are left."""
        each = (f"{self.prefix}.{last}" for last in range(FIRST_SERVICE, LAST_SERVICE + 1))
        free = [address for address in each if address not in self._taken]
        if len(free) < count:
            raise StackError(
                f"{len(self._taken) + count} containers side by side on {self.prefix}.0/24; expected at most "
                f"{LAST_SERVICE - FIRST_SERVICE + 1}: give it fewer --lanes"
            )
        self._taken.update(free[:count])
        return free[:count]

    def give_back(self, addresses: Iterable[str]) -> None:
        """Nobody has those any more."""
        self._taken.difference_update(addresses)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where one stands: on that network, at that address of it, and found there by that name. On the host's network it
    has neither.
    """

    network: str = "host"
    address: str = ""
    alias: str = ""


_joined: list[StackNetwork] = []


def joined() -> StackNetwork | None:
    """The one that this process has joined, if any."""
    return _joined[0] if _joined else None


def has_joined(network: StackNetwork) -> None:
    """This process is on it from now on. Raises ValueError where it is on one already."""
    if _joined:
        raise ValueError(f"{network.project!r} beside {_joined[0].project!r}; expected one network a process")
    _joined.append(network)


def moved_address(address: str) -> str:
    """Where a container goes that is moved."""
    head, _, last = address.rpartition(".")
    return f"{head}.{(int(last) + ELSEWHERE) % 256}"
