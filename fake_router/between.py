"""What others do between subject and router, Toxiproxy and Docker: a router is told of it, and asked what it saw."""

from collections.abc import Collection, Mapping, Sequence

from fake_router.listener_faults import ListenerFaults
from fake_router.switchboard import Switchboard


class Between:
    """The acts of others that one router's plans name. All methods must be called on its loop; none waits."""

    def __init__(self, board: Switchboard, faults: ListenerFaults) -> None:
        self._board = board
        self._faults = faults

    def reached_through(self, ports: Sequence[int]) -> None:
        """Subjects reach its upstreams through Toxiproxy, at these ports."""
        self._faults.reached_through(ports)

    def poisoned(self) -> set[int]:
        """The upstreams on whose way a toxic may have struck."""
        return self._board.poisons.upstreams()

    def poisons_over(self) -> set[int]:
        """Those of them where a connection on which it may have struck has ended."""
        return self._board.poisons.over()

    def setting_poison(self, upstream: int, *, begun: bool) -> None:
        """Toxiproxy is about to set a toxic on the way there (begun), or has set it."""
        self._board.poisons.setting(upstream, begun=begun)

    def settle_poisons(self, *, lost: Mapping[int, int], in_force: Collection[int]) -> None:
        """Record of each toxic whether it struck, now that the run has settled. lost: how many bytes were lost on the
        way to each upstream, by Toxiproxy's own count; in_force: those on whose way it says that the toxic is set.
        """
        self._board.poisons.settle(self._board.ledger, lost=lost, in_force=in_force)

    def disturbed(self) -> None:
        """Docker says that what was to be done to a container was done, and has lasted until now."""
        self._board.poisons.disturbed(self._board.ledger)
        self._faults.disturbed()
