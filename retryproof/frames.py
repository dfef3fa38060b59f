"""What passes between an examination and its worker processes: one request, then frames of runs. Both ends are this
program, started by each other, so that a pickle is as good as its sender.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from faults.plan import Plan
from retryproof.exits import Exit
from retryproof.pickles import first_message, messages_of
from retryproof.travelling import Expected, Travelling
from suites.given import NOTHING_GIVEN, Given
from suites.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What one worker is to live through: plans by their places among all of them.

    first_number: of its operations; no other process of the examination uses those that follow. lanes: how many runs
    go on side by side in it (None: as suits). alone_network: it was started in a network of its own, None if it was
    not; True where that is in a user namespace of its own too. joins: it has to join a network of stacks itself.
    travelling, expected: on another machine, what goes there of the subject, and what must be there already.
    """

    name: str
    plans: tuple[tuple[int, Plan], ...]
    first_number: int
    given: Given = NOTHING_GIVEN
    lanes: int | None = None
    toxiproxy: bool = False
    alone_network: bool | None = None
    joins: bool = False
    travelling: Travelling | None = None
    expected: Expected | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallersRequest:
    """Callers of a load are wanted instead; what they are to do is told when it is known (load_frames.py)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lived:
    """A run, and the place of its plan."""

    place: int
    run: Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """It could not go on, and why, in words; `code` goes with it."""

    says: str
    code: Exit


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """All its plans were lived through. A worker that ends without a Done or Failed has died."""


Frame = Lived | Failed | Done


def read_request(read: Callable[[int], bytes]) -> Request | CallersRequest | None:
    """The one request; None where its sender has ended before it was all written. read: blocks for as many bytes."""
    message = first_message(read)
    assert message is None or isinstance(message, Request | CallersRequest)
    return message


async def frames_of(read_exactly: Callable[[int], Awaitable[bytes]]) -> AsyncIterator[Frame]:
    """Every whole frame until the sender has ended."""
    async for message in messages_of(read_exactly):
        if not isinstance(message, Frame):
            return
        yield message
