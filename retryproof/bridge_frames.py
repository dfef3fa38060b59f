"""What passes between a command and its bridge to a Ray cluster. Both are this program on this machine."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Begin:
    """A worker process is to begin; `request` is what it reads. edition: what has to be installed where it does."""

    unit: int
    edition: str
    request: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Tell:
    """That one reads this next."""

    unit: int
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """That one is to end in good order."""

    unit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """That one is to end, whatever it does."""

    unit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Connected:
    """The cluster is there, and has so many CPUs, whoever may use them now."""

    cpus: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Why there is no cluster, or (unit) why that one cannot be lived through where it is."""

    says: str
    unit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """It has begun, on that machine."""

    unit: int
    node: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Some bytes that its worker process hands on."""

    unit: int
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """It has ended, and how, in words. cpus: that the cluster has now."""

    unit: int
    how: str
    cpus: int


Order = Begin | Tell | Stop | Kill
Word = Connected | Refused | Placed | Piece | Gone
