"""A plan under Toxiproxy: which toxics are laid over it, and what a fault looks like from behind Toxiproxy.

Toxiproxy accepts before it dials, so that a refused connect is no proof any more; and it passes a reset on as EOF.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from math import ceil
from typing import assert_never

from faults.acts import (
    Act,
    AnswerEarly,
    DropSyn,
    End,
    EndIdle,
    EndUnread,
    Fragment,
    Hang,
    HoldPool,
    LeaveUnread,
    Misresolve,
    NeverAccept,
    Refuse,
    ResetAtAccept,
    StopReading,
    Unreachable,
)
from faults.answer import Answer
from faults.disturbance import Disturb
from faults.fault import Fault
from faults.handshake import DemandCertificate, ShowCertificate, Spoil, SpoilHandshake
from faults.poison import Poison
from faults.toxics import Bandwidth, Direction, Latency, Slicer
from faults.vocabulary import Ending

OverlayToxic = Latency | Bandwidth | Slicer  # no byte is lost

SLICE_US = 10  # what Toxiproxy needs for each piece by itself, on a busy machine (measured: 3 us)
TICK_US = 1_000  # Go sleeps for whole ms where it has nothing else to do (measured: a pause of 50 us lasts 1,200)
WAKING_US = 250  # and how long it then takes to go on, on a busy machine (measured: 200 us)
REQUEST_BYTES = 4096  # of a request with the shortest body, and some
REPLY_BYTES = 4096  # no reply of the catalogue is longer, but those that are long on purpose


class Hop(StrEnum):
    """Which connections pass through Toxiproxy."""

    ROUTER = "router"  # those from the forwarder to its routers
    CALLER = "caller"  # those from the caller to the forwarder


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlay:
    """A toxic that loses nothing, over one direction of one hop, for as long as a plan lasts."""

    toxic: OverlayToxic
    hop: Hop = Hop.ROUTER

    @property
    def place(self) -> tuple[type[OverlayToxic], Direction, Hop]:
        """Where Toxiproxy has room for one: two of a kind over the same bytes would bear one name."""
        return type(self.toxic), self.toxic.direction, self.hop

    @property
    def least_ms(self) -> int:
        """No byte passes sooner than so long after it came. Only a latency is sure of that: a bandwidth lets bytes pass
        sooner when it has slept too long over those before, and a slicer pauses after a piece.
        """
        if self.toxic.toxicity and isinstance(self.toxic, Latency):
            return self.toxic.latency_ms - self.toxic.jitter_ms
        return 0

    def slower_ms(self, body_bytes: int, reply_bytes: int = REPLY_BYTES) -> float:
        """By how much the answer to a request with a body of that size may come later."""
        passing = reply_bytes if self.toxic.direction is Direction.DOWNSTREAM else REQUEST_BYTES + body_bytes
        match self.toxic:
            case Latency(latency_ms=latency_ms, jitter_ms=jitter_ms):
                return latency_ms + jitter_ms
            case Bandwidth(rate_kbytes_s=rate):
                return passing / rate
            case Slicer(average_bytes=average, variation_bytes=variation, delay_us=delay_us):
                pause_us = ceil(delay_us / TICK_US) * TICK_US + WAKING_US if delay_us else 0
                return passing / (average - variation) * (pause_us + SLICE_US) / 1000
            case _:
                assert_never(self.toxic)


def over(under: tuple[Overlay, ...], hop: Hop) -> tuple[Overlay, ...]:
    """Those that are laid over that hop."""
    return tuple(overlay for overlay in under if overlay.hop is hop)


def slower_ms(
    under: tuple[Overlay, ...], body_bytes: int, hop: Hop = Hop.ROUTER, *, reply_bytes: int = REPLY_BYTES
) -> float:
    """By how much the answer to a request may come later over that hop."""
    return sum(overlay.slower_ms(body_bytes, reply_bytes) for overlay in over(under, hop))


def least_ms(under: tuple[Overlay, ...], direction: Direction) -> int:
    """What passes all hops in that direction takes at least so long. Toxics on one hop count the same time: the longest
    of them is sure, not their sum.
    """
    return sum(
        max((overlay.least_ms for overlay in over(under, hop) if overlay.toxic.direction is direction), default=0)
        for hop in Hop
    )


@lru_cache(maxsize=4096)
def behind(fault: Fault, *, tls: bool, slower: float) -> Fault:
    """That fault as a forwarder sees it from behind Toxiproxy, where all comes up to `slower` read timeouts later."""
    return replace(fault, seen=seen_behind(fault.act, tls=tls), slower=slower)


def seen_behind(act: Act, *, tls: bool) -> Act:
    """The act that looks from before Toxiproxy as this one does from behind it."""
    match act:
        case Refuse() | Unreachable():  # Toxiproxy dials as soon as it has accepted, and closes
            return SpoilHandshake(how=Spoil.FIN) if tls else ResetAtAccept()
        case DropSyn():
            return SpoilHandshake(how=Spoil.STALL) if tls else LeaveUnread()
        case NeverAccept(closes=closes):
            return EndUnread(ending=Ending.FIN) if closes else act
        case EndIdle() | EndUnread() | StopReading():
            return replace(act, ending=Ending.FIN) if act.ending is Ending.RESET else act
        case End(ending=Ending.RESET) | Fragment(ending=Ending.RESET) | Answer(ending=Ending.RESET):
            return replace(act, ending=Ending.TRUNCATION if tls else Ending.FIN)
        case End() | Fragment() | Answer() | Hang():
            return act
        case HoldPool() | Misresolve() | LeaveUnread() | Poison() | Disturb():
            return act
        case SpoilHandshake() | ShowCertificate() | DemandCertificate():
            return act
        case ResetAtAccept() | AnswerEarly():
            return act  # what the forwarder saw is not certain before Toxiproxy, nor behind it
        case _:
            assert_never(act)


def why_otherwise(act: Act) -> str:
    """Why it looks otherwise from behind Toxiproxy, where it does."""
    match act:
        case Refuse() | Unreachable():
            return "it accepts before it dials, and closes; whether a byte had been written by then is not certain"
        case DropSyn():
            return "it accepts, and its own dial gets no answer"
        case _:
            return "it passes a reset on as EOF"
