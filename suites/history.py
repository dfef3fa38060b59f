"""What the caller saw of each operation."""

from dataclasses import dataclass
from enum import StrEnum

from faults.form import COMPLETION, Form
from suites.coding import content_so_far
from suites.sent import Sent


class Kind(StrEnum):
    """What the caller may believe of an operation."""

    OK = "ok"  # it holds what looks like a whole success
    FAILED = "failed"  # the subject claims "not executed"
    UNKNOWN = "unknown"  # all else: may have run, executed and lost, no answer


class Arrival(StrEnum):
    """How the answer reached the caller."""

    WHOLE = "whole"  # its framing says that it is all there
    CUT = "cut"  # head received, then the connection ended short of what the framing announced
    GARBLED = "garbled"  # bytes that are no HTTP response
    NOTHING = "nothing"  # the connection ended before any byte
    HUNG = "hung"  # no answer before the run's ceiling
    LEFT = "left"  # the caller left before its answer
    RETURNED = "returned"  # a call returned an object, or raised


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """One answer to a submit or to a poll, of a protocol in which there is more than one."""

    poll: bool
    arrival: Arrival
    status: int | None = None
    body: bytes = b""

    @property
    def says(self) -> str:
        """It in a few words, for reports."""
        return f"{self.status or self.arrival} to a {'poll' if self.poll else 'submit'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one operation ended for its caller, who had asked for it in that form. `says`: the subject's words, for
    reports. Of a stream, OK is one that looks whole to its last event. For a subject called in process, `tokens` and
    `text` are what it returned, or what had come of a stream that it lost; for one over HTTP, `body` is what arrived,
    and `tokens` and `logprobs` are what it holds where that is no JSON. heard: every answer, where there may be more
    than one. sent: what its caller sent, as far as it is known. coding: of the body, as its head names it. behind: what
    had come behind a whole answer, and is no part of it. left: its caller left while it was in flight, wholly (arrival
    LEFT) or by half-closing. came_back: it asked again afterwards, and this is what came of that. Times are the
    machine's monotonic clock in nanoseconds.
    """

    operation: int
    kind: Kind
    arrival: Arrival
    form: Form = COMPLETION
    status: int | None = None
    body: bytes = b""
    coding: str = ""
    behind: bytes = b""
    tokens: tuple[int, ...] | None = None
    text: str | None = None
    logprobs: tuple[float, ...] | None = None
    heard: tuple[Heard, ...] = ()
    says: str = ""
    left: bool = False
    came_back: bool = False
    sent: Sent | None = None
    invoked_at_ns: int = 0
    ended_at_ns: int = 0

    @property
    def success_head(self) -> bool:
        """A head with a 2xx has come."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def content(self) -> bytes:
        """The body without its coding, as far as it can be read."""
        return content_so_far(self.body, self.coding)

    @property
    def delay_ms(self) -> float:
        """Milliseconds from invocation to outcome."""
        return (self.ended_at_ns - self.invoked_at_ns) / 1e6
