"""What passes between a load and a worker process that holds some of its callers: words to it, and what it says. They
are written as all messages are (pickles.py).
"""

from dataclasses import dataclass
from pathlib import Path

from suites.load.ended import Tally
from suites.load.found import Use
from suites.load.order import Order
from suites.load.progress import Count

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_NETWORK = Path("/proc/self/ns/net")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Which machine this is (`boot`), and which of its networks: one clock, and one loopback."""

    boot: str
    network: str

    @staticmethod
    def here() -> "Place":
        """Of this process. Raises OSError where /proc cannot be read."""
        return Place(boot=_BOOT.read_text().strip(), network=str(_NETWORK.readlink()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """One caller process for each: they connect."""

    orders: tuple[Order, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BeginAll:
    """The word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveUpAll:
    """Nobody answers them any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndAll:
    """They are to end, and what they have recorded by then is wanted."""


Told = Orders | BeginAll | GiveUpAll | EndAll


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrived:
    """It is there, and has room for orders."""

    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """All its callers are connected, or cannot be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """They have heard the word, at that time by its monotonic clock."""

    at_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """How far its callers are, and what each of them takes."""

    counts: dict[Count, int]
    uses: tuple[Use, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """All is over: what they have recorded, by its clock, and the greatest number that was begun."""

    tally: Tally
    last_number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CannotGoOn:
    """And why, in words."""

    says: str


Said = Arrived | Ready | Begun | Looked | Recorded | CannotGoOn
