"""What an operation came to, and what a poll may find: closed unions."""

from dataclasses import dataclass
from enum import StrEnum

MOST_SAYS = 2_000  # bytes: what a failure says is kept as long as a result, and must fit in what was reserved


class Executed(StrEnum):
    """Whether the work was done."""

    NO = "no"
    UNKNOWN = "unknown"
    YES = "yes"


@dataclass(frozen=True, slots=True)
class Sampled:
    """A result, encoded once: every poll gets these bytes."""

    payload: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """No result. `says` is cut to what takes MOST_SAYS bytes; `category` is the protocol's; `status` is the HTTP status
    that the failure would have had if it had been answered at once.
    """

    says: str
    category: str
    executed: Executed
    status: int

    def __post_init__(self) -> None:
        most = MOST_SAYS if self.says.isascii() else MOST_SAYS // 4  # a text takes up to 4 bytes a character
        if len(self.says) > most:
            object.__setattr__(self, "says", self.says[: most - 4] + " ...")


Outcome = Sampled | Failed


@dataclass(frozen=True, slots=True)
class Pending:
    """It has not landed: wait, or come again."""


class Why(StrEnum):
    """Why there is nothing to be had for an id; the value is what the caller is told."""

    EVICTED = "delivered and evicted"
    EXPIRED = "expired, never delivered"
    FORGOTTEN = "unknown: issued by this store, and forgotten since its session has ended"
    FOREIGN = "unknown: this store has issued no such id (another did, or this one before a restart without a journal)"


@dataclass(frozen=True, slots=True)
class Gone:
    """Nothing is to be had for this id, now or later, and why."""

    why: Why


PENDING = Pending()
Look = Pending | Sampled | Failed | Gone
