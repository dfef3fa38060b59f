"""What happened to a script: facts in order, each with the server's time, beside the router's ledger. All that a check
may look at.
"""

from enum import StrEnum

import msgspec

from fake_router.entries import AnyEntry
from faults.disturbance import Disturbing
from suites.futures.offer import Terms
from suites.futures.script import Script
from suites.futures.steps import Loss, Other
from suites.tinker.open_call import Departure


class Kind(StrEnum):
    """What an answer says, read as a caller of this protocol reads it."""

    TAKEN = "taken"  # a submit: this is your request id
    RESULT = "result"  # a poll: here it is
    FAILED = "failed"  # a poll: it has failed, for good
    TRY_AGAIN = "try-again"  # a poll: not yet
    GONE = "gone"  # 404: nothing is known of it, and a body says why
    REFUSED = "refused"  # 4xx: it is wrong to ask
    BUSY = "busy"  # 429, 503: not now
    OTHER = "other"  # nothing that this protocol knows
    NOTHING = "nothing"  # the connection ended without a whole answer


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """One whole answer, or that there was none. request_id: of a submit that was taken. operation and execution: whom
    a result names in its tokens; json: it is written in JSON. executed: what a failure says of it: "no", "unknown" or
    "yes".
    """

    kind: Kind
    status: int = 0
    body: bytes = b""
    says: str = ""
    request_id: str = ""
    operation: int | None = None
    execution: int | None = None
    executed: str = ""
    json: bool = False


class Fact(msgspec.Struct, frozen=True, kw_only=True, tag_field="fact", tag=True):
    """What every fact has: the place of the step in which it was seen, the server's clock in ms, and ours in ns."""

    step: int
    now_ms: int = 0
    at_ns: int = 0


class Opened(Fact, frozen=True, kw_only=True):
    """A session was asked for; sampling_session is empty where there is none."""

    session: int
    sampling_session: str
    says: str = ""


class Beaten(Fact, frozen=True, kw_only=True):
    """A heartbeat was answered with that status."""

    session: int
    status: int


class Submitted(Fact, frozen=True, kw_only=True):
    """An operation was submitted. other: under its key, but with other content; number: what the content carries.
    again: not for the first time; at_once: together with the first. lost: its caller left, and has seen no answer.
    """

    operation: int
    session: int
    number: int
    answer: Answer | None = None
    again: bool = False
    at_once: bool = False
    other: Other | None = None
    lost: Loss | None = None


class Asked(Fact, frozen=True, kw_only=True):
    """A poll was sent for that id. operation: whose it is; None: nobody was given it."""

    poll: int
    operation: int | None
    request_id: str


class Reached(Fact, frozen=True, kw_only=True):
    """The reply to that poll lies in its caller's socket buffer, or its connection has ended."""

    poll: int


class Answered(Fact, frozen=True, kw_only=True):
    """The caller of that poll has read its answer."""

    poll: int
    answer: Answer


class Left(Fact, frozen=True, kw_only=True):
    """The caller of that poll has left; crossing: while what it waits for landed."""

    poll: int
    how: Departure
    crossing: bool = False


class Silent(Fact, frozen=True, kw_only=True):
    """The caller of that poll wanted to read, and nothing has come."""

    poll: int


class Landed(Fact, frozen=True, kw_only=True):
    """The router has let go of that operation, and the server is done with it."""

    operation: int


class Counted(Fact, frozen=True, kw_only=True):
    """What the server says of itself at quiescence: how many wait for each id, and how many results it has."""

    waiting: dict[str, int]
    in_flight: int
    undelivered: int
    delivered: int
    evicted: int
    stored_bytes: int = 0


class Ended(Fact, frozen=True, kw_only=True):
    """The server's process was told to end. how: it did, in the words of its supervisor; empty: not by its ceiling."""

    killed: bool
    how: str = ""


class Began(Fact, frozen=True, kw_only=True):
    """A server answers again. kept: on what the one before it had stored."""

    kept: bool


class Disturbed(Fact, frozen=True, kw_only=True):
    """That was done to the container between the server and its routers."""

    how: Disturbing


class Calmed(Fact, frozen=True, kw_only=True):
    """What was done to that container is undone. seen: until then its engine said that it was so."""

    how: Disturbing
    seen: bool


class Broke(Fact, frozen=True, kw_only=True):
    """The instrument or the server broke down: what comes after it proves nothing."""

    says: str


class Hung(Fact, frozen=True, kw_only=True):
    """The server did not come to rest within the ceiling. Nothing is done after it."""

    says: str


AnyFact = (
    Opened
    | Beaten
    | Submitted
    | Asked
    | Reached
    | Answered
    | Left
    | Silent
    | Landed
    | Counted
    | Ended
    | Began
    | Disturbed
    | Calmed
    | Broke
    | Hung
)


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A script lived through. numbers: what the content of each operation carries."""

    script: Script
    terms: Terms
    facts: tuple[AnyFact, ...]
    ledger: tuple[AnyEntry, ...] = ()
    numbers: tuple[int, ...] = ()
