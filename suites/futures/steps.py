"""The steps of a script: what callers, the router and time do to a server of futures, one after the other. A closed
union; a step that cannot be raises ValueError.

Sessions, operations and polls are named by their place among the steps that begin one: the first `open`, `submit` or
`poll` is number 0.
"""

from enum import StrEnum

import msgspec

from faults.acts import is_listener_act, needs_expectation, needs_stream
from faults.catalogue import fault_named
from faults.disturbance import Disturbing
from suites.tinker.open_call import Departure

MAX_MS = 10 * 24 * 3_600_000
MAX_DIGITS = 400
MAX_COPIES = 8


class Loss(StrEnum):
    """How the reply to a submit is lost."""

    AT_ONCE = "at-once"  # its caller resets the connection as soon as the request is written
    UNREAD = "unread"  # its caller resets the connection when the reply lies in its socket buffer


class Other(StrEnum):
    """What is different in a submit that comes again under the same key."""

    PROMPT = "prompt"  # the tokens of its prompt
    SEED = "seed"  # the seed of its sampling parameters


class First(StrEnum):
    """Which of two things that cross is done first."""

    LEAVES = "leaves"
    LANDS = "lands"


class Step(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, tag_field="step"):
    """What every step has."""


class Open(Step, frozen=True, kw_only=True, tag="open"):
    """A new session, and a sampling session in it."""


class Beat(Step, frozen=True, kw_only=True, tag="beat"):
    """A heartbeat of that session."""

    session: int


class Submit(Step, frozen=True, kw_only=True, tag="submit"):
    """A new operation under the session's next sequence number. The router holds it, once received, until it lands;
    then its exchanges meet these faults, in order. copies: so many callers submit it at once; where a reply is lost it
    is that of the first.
    """

    session: int
    faults: tuple[str, ...] = ()
    lost: Loss | None = None
    copies: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.copies <= MAX_COPIES:
            raise ValueError(f"copies is {self.copies!r}; expected 1 to {MAX_COPIES}")
        for id_ in self.faults:
            act = fault_named(id_).act
            if is_listener_act(act) or needs_stream(act) or needs_expectation(act):
                raise ValueError(f"fault {id_!r} of a submit; expected one that strikes a whole exchange")


class Resubmit(Step, frozen=True, kw_only=True, tag="resubmit"):
    """That operation again, under the same key; with other content where `other` says so."""

    operation: int
    other: Other | None = None
    lost: Loss | None = None

    def __post_init__(self) -> None:
        if self.other is not None and self.lost is not None:
            raise ValueError(f"other {self.other!r} whose reply is lost; expected one of the two")


class Poll(Step, frozen=True, kw_only=True, tag="poll"):
    """A poll for that operation's result, on a connection of its own. Its caller waits, and reads nothing yet. json: it
    accepts JSON alone.
    """

    operation: int
    json: bool = False


class Read(Step, frozen=True, kw_only=True, tag="read"):
    """The caller of that poll reads what has come, if anything has."""

    poll: int


class Leave(Step, frozen=True, kw_only=True, tag="leave"):
    """The caller of that poll leaves: also with the reply in its socket buffer, unread."""

    poll: int
    how: Departure


class Land(Step, frozen=True, kw_only=True, tag="land"):
    """The router lets go of that operation, and answers as its faults say."""

    operation: int


class Cross(Step, frozen=True, kw_only=True, tag="cross"):
    """The caller of that poll leaves while what it waits for lands: neither waits for the other to be noticed."""

    poll: int
    how: Departure
    first: First = First.LEAVES


class Ask(Step, frozen=True, kw_only=True, tag="ask"):
    """A poll for an id that nobody was given."""

    request_id: str

    def __post_init__(self) -> None:
        if not self.request_id.isprintable() or len(self.request_id) > MAX_DIGITS:
            raise ValueError(f"request_id is {self.request_id[:40]!r}; expected printable text of {MAX_DIGITS} or less")


class Advance(Step, frozen=True, kw_only=True, tag="advance"):
    """The server's clock goes on by so many milliseconds, at quiescence; no other clock does."""

    ms: int

    def __post_init__(self) -> None:
        if not 1 <= self.ms <= MAX_MS:
            raise ValueError(f"ms is {self.ms!r}; expected 1 to {MAX_MS}")


class Restart(Step, frozen=True, kw_only=True, tag="restart"):
    """The server is ended, by SIGTERM or (killed) by SIGKILL, and started again on what its store has kept."""

    killed: bool = False


class Disturb(Step, frozen=True, kw_only=True, tag="disturb"):
    """That is done to the container between the server and its routers. landing: the router lets go of that operation
    then. briefly: it is undone before anybody has had time to give up; else it stays so until it is calmed.
    """

    how: Disturbing
    landing: int | None = None
    briefly: bool = False


class Calm(Step, frozen=True, kw_only=True, tag="calm"):
    """What was done to that container is undone, and it serves again."""


class Heal(Step, frozen=True, kw_only=True, tag="heal"):
    """The router lets go of all that it holds, and nothing strikes any more."""


AnyStep = (
    Open
    | Beat
    | Submit
    | Resubmit
    | Poll
    | Read
    | Leave
    | Land
    | Cross
    | Ask
    | Advance
    | Restart
    | Disturb
    | Calm
    | Heal
)
