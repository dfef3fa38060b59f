"""In which cells a fault is lived through at which depth: data beside each fault."""

from dataclasses import dataclass, replace
from enum import StrEnum

from faults.form import STREAM, Api, Form
from faults.vocabulary import Leaving


class Depth(StrEnum):
    """How much of the catalogue is lived through; each depth holds the ones before it."""

    CORE = "core"  # about 40 cells: those that tell forwarders apart best
    FULL = "full"  # every fault, in the dimensions that change verdicts
    DEEP = "deep"  # every fault in every dimension

    def holds(self, other: "Depth") -> bool:
        """What is lived through at that depth is lived through at this one."""
        return _ORDER[other] <= _ORDER[self]


_ORDER = {depth: place for place, depth in enumerate(Depth)}


class Dimension(StrEnum):
    """What a cell changes around its fault. Which of them a fault can have follows from what it strikes; those with a
    large body, or with a segment for each byte, it has only where its coverage names them.
    """

    FIRST = "first"  # the first request of its connection, in one segment
    FOLLOWED = "followed"  # the same, and a second operation after it, on whatever it has left of the connection
    REUSED = "reused"  # on a connection that has carried one before
    TWO_SEGMENTS = "first/two-segments"  # head and body apart
    STREAM = "first/stream"  # asked for as a stream of events
    CHAT = "first/chat"  # asked for as a chat completion
    CHAT_STREAM = "first/chat-stream"
    EACH_BYTE = "first/each-byte"  # each byte of the request written by itself
    FIRST_64KB = "first/64KB"  # with a body that is larger than one read of most servers
    FIRST_2MB = "first/2MB"  # with one that no socket buffer of default size holds
    CALLER_FIN = "caller-fin"  # its caller leaves: before the work where nothing is wrong, else during it
    CALLER_RESET = "caller-reset"
    CALLER_HALF_CLOSE = "caller-half-close"
    TLS = "first/tls"
    EVERY_UPSTREAM = "every-upstream"
    FIRST_OF_TWO = "first-of-two"  # and a healthy upstream beside it
    FIRST_OF_TWO_TLS = "first-of-two/tls"
    FIRST_OF_TWO_2MB = "first-of-two/2MB"
    FIRST_OF_TWO_8MB = "first-of-two/8MB"  # more than the kernel takes from a writer (measured: 4 MB on loopback)


CALLER_LEAVES = {
    Dimension.CALLER_FIN: Leaving.FIN,
    Dimension.CALLER_RESET: Leaving.RESET,
    Dimension.CALLER_HALF_CLOSE: Leaving.HALF_CLOSE,
}

FORMS = {
    Dimension.STREAM: STREAM,
    Dimension.CHAT: Form(api=Api.CHAT),
    Dimension.CHAT_STREAM: Form(api=Api.CHAT, stream=True),
}

_PLAIN = frozenset({Dimension.FIRST, Dimension.EVERY_UPSTREAM, Dimension.FIRST_OF_TWO})
_RARE = frozenset(
    {
        Dimension.EACH_BYTE,
        Dimension.FIRST_64KB,
        Dimension.FIRST_2MB,
        Dimension.FIRST_OF_TWO_2MB,
        Dimension.FIRST_OF_TWO_8MB,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """The cells that are lived through before DEEP: `core` at every depth, `full` from FULL on beside the plain ones
    (`first`, or both of a listener) that are not `deep`. All others are DEEP. drawn: the shallowest depth at which
    plans are drawn around the fault.
    """

    core: frozenset[Dimension] = frozenset()
    full: frozenset[Dimension] = frozenset()
    deep: frozenset[Dimension] = frozenset()
    drawn: Depth = Depth.CORE

    def has(self, dimension: Dimension) -> bool:
        """There is a cell in that dimension, if the fault can have it."""
        return dimension not in _RARE or dimension in self.core | self.full | self.deep

    def depth_of(self, dimension: Dimension) -> Depth:
        """The shallowest depth at which the cell in that dimension is lived through."""
        if dimension in self.core:
            return Depth.CORE
        return Depth.FULL if dimension in self.full | (_PLAIN - self.deep) else Depth.DEEP


ONCE = Coverage()  # what a new fault gets: its plain cells, from FULL on
FOLLOWED_TOO = Coverage(full=frozenset({Dimension.FOLLOWED}))
FOLLOWED_ONLY = Coverage(full=frozenset({Dimension.FOLLOWED}), deep=frozenset({Dimension.FIRST}))
COSTLY = Coverage(deep=_PLAIN, drawn=Depth.DEEP)  # it holds up a loop for longer than runs beside it can be judged
REUSED_TOO = Coverage(full=frozenset({Dimension.REUSED}))
CORE = Coverage(core=frozenset({Dimension.FIRST}), full=frozenset({Dimension.REUSED}))
CORE_REUSED_TOO = Coverage(core=frozenset({Dimension.FIRST, Dimension.REUSED}))
LISTENER_CORE = Coverage(core=frozenset({Dimension.EVERY_UPSTREAM, Dimension.FIRST_OF_TWO}))
BESIDE_HEALTHY = Coverage(deep=frozenset({Dimension.EVERY_UPSTREAM}))
LISTENER_SLOW = Coverage(core=frozenset({Dimension.FIRST_OF_TWO}))  # the other cell costs several time-outs
LISTENER_DEEP = Coverage(deep=frozenset({Dimension.EVERY_UPSTREAM, Dimension.FIRST_OF_TWO}))


def and_in(*dimensions: Dimension, coverage: Coverage) -> Coverage:
    """The same, and from FULL on in these dimensions too."""
    return replace(coverage, full=coverage.full.union(dimensions))


def segmented(coverage: Coverage) -> Coverage:
    """The same, and with head and body apart: the reply, or its absence, has made real forwarders decide by that."""
    return and_in(Dimension.TWO_SEGMENTS, coverage=coverage)


def streamed(coverage: Coverage) -> Coverage:
    """The same, and asked for as a stream: one of the few that stand for all others there."""
    return and_in(Dimension.STREAM, coverage=coverage)


def in_all_forms(coverage: Coverage) -> Coverage:
    """The same, and asked for in every form."""
    return and_in(*FORMS, coverage=coverage)


def left(coverage: Coverage) -> Coverage:
    """The same, and with callers that leave: what is left behind is work not begun, work done, or a late answer."""
    return and_in(*CALLER_LEAVES, coverage=coverage)


def left_at_once(coverage: Coverage) -> Coverage:
    """The same, and with a caller that resets its connection: it holds a part of its answer."""
    return and_in(Dimension.CALLER_RESET, coverage=coverage)


def over_tls(coverage: Coverage) -> Coverage:
    """The same, and over TLS: one of the few that stand for all others there."""
    return and_in(Dimension.TLS, Dimension.FIRST_OF_TWO_TLS, coverage=coverage)
