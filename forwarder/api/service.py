"""What every handler shares: the forwarder, the futures, and what surrounds them."""

from dataclasses import dataclass

from forwarder.api.activity import Activity
from forwarder.api.background import Forwards
from forwarder.api.delivery import Polls
from forwarder.api.ending import Ending
from forwarder.api.incoming import Incoming
from forwarder.api.metrics import Metrics
from forwarder.client import Forwarder
from forwarder.futures.store import Futures


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """One server's parts. models: the names that it offers."""

    forwarder: Forwarder
    futures: Futures
    forwards: Forwards
    polls: Polls
    activity: Activity
    incoming: Incoming
    metrics: Metrics
    ending: Ending
    models: tuple[str, ...]

    @property
    def in_flight(self) -> int:
        """Operations that have been asked for and have no outcome yet, by either API."""
        return self.forwarder.in_flight - self.forwards.forwarding + self.futures.counts.in_flight
