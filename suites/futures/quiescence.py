"""When a step is over: everything that it has caused has happened, and what is in flight in the server is held at the
router. The server says so where it has a test clock; else the router does.
"""

import asyncio
import time
from collections import Counter

import msgspec

from suites.futures.calls import Calls
from suites.futures.control import ControlError, HungError, Quiet
from suites.futures.gates import Gates
from suites.futures.host import Contained, Host
from suites.futures.notes import Notes
from suites.futures.record import Counted, Landed, Reached

QUIET_MS = 10_000  # a server that is not quiet by then is broken, or this machine is
REPLY_MS = 500  # a reply that was sent before the server said that it is quiet
LOOK_S = 0.001


class Quiescence:
    """What a player waits for after each step, and what is noted then."""

    def __init__(self, host: Host, gates: Gates, calls: Calls, notes: Notes) -> None:
        self._host = host
        self._gates = gates
        self._calls = calls
        self._notes = notes
        self._landed: set[int] = set()
        self._in_vain: set[int] = set()  # polls whose replies were waited for once, and did not come
        self._lost: set[tuple[str, int, int]] = set()
        self._says: Quiet | None = None
        self._rests = False  # it says that nothing is in flight, and could not be asked for more

    async def reached(self) -> None:
        """Raises HungError where a server with a test clock does not come to rest; ControlError."""
        deadline = time.monotonic() + QUIET_MS / 1000
        while not await self._is_quiet():
            if time.monotonic() > deadline:
                raise await self._never_quiet()
            await asyncio.sleep(LOOK_S)  # a forward on its way to the router gives no event
        await self._all_have_come()
        self._note_landings()
        await self._look()
        if self._says is not None:
            self._notes.saw(Counted, **msgspec.structs.asdict(self._says))

    @property
    def reply_ms(self) -> int:
        """How long a reply that is owed is waited for: longer from a server that does not say when it is quiet."""
        return REPLY_MS if self._notes.terms.clock else QUIET_MS

    async def _is_quiet(self) -> bool:
        held = len(self._gates.held())
        control = self._host.control
        if control is None:
            self._notes.by_the_clock()
            return await self._gates.busy() == held and await self._all_given_up()
        self._says = await control.settle()
        self._notes.now_ms = self._says.now_ms
        return self._says.in_flight == len(self._gates.held())

    async def _all_given_up(self) -> bool:
        """In flight is what the router holds, but for what something between them has cut off. A server with nothing
        between them is not asked.
        """
        if not isinstance(self._host, Contained):
            return True
        in_flight = await self._host.in_flight()
        self._rests = in_flight == 0
        return in_flight == len(self._gates.held() - self._notes.cut)

    async def _all_have_come(self) -> None:
        """Behind a proxy a poll, or the end of one, is on its way for a while, and the server is quiet without it."""
        deadline = time.monotonic() + REPLY_MS / 1000
        while (differ := self._counted_otherwise()) and time.monotonic() < deadline:
            await asyncio.sleep(LOOK_S)  # nor does a poll on its way to the server
            await self._is_quiet()
        self._lost |= differ

    def _counted_otherwise(self) -> set[tuple[str, int, int]]:
        """The ids that others wait for by the server's count than by ours, with both; not what came to nothing once:
        who has vanished is waited with for ever.
        """
        if self._says is None or self._notes.terms.direct:
            return set()
        theirs = self._says.waiting
        polls = (self._notes.lives.polls[poll] for poll in self._notes.waiting() if not self._notes.is_owed(poll))
        ours = Counter(poll.asked.request_id for poll in polls)
        both = {(id_, ours[id_], theirs.get(id_, 0)) for id_ in ours.keys() | theirs.keys()}
        return {one for one in both if one[1] != one[2]} - self._lost

    async def _never_quiet(self) -> ControlError:
        """Without its word nobody knows whether it is the server that does not come to rest."""
        if self._says is None:
            return ControlError(f"it was not quiet within {QUIET_MS} ms: {await self._gates.busy()} exchanges open")
        held = len(self._gates.held())
        return HungError(
            f"it has not come to rest within {QUIET_MS} ms: it says that {self._says.in_flight} are in flight; "
            f"the router holds {held}"
        )

    async def _look(self) -> None:
        """Which polls have their replies by now."""
        for poll in self._notes.waiting():
            owed = self._notes.is_owed(poll) and poll not in self._in_vain
            if await self._calls.polls[poll].arrived(self.reply_ms if owed else 0):
                self._notes.saw(Reached, poll=poll)
            elif owed:
                self._in_vain.add(poll)

    def _note_landings(self) -> None:
        """What the router has received and holds no more: it has answered, or the server has given it up. So it has
        what was cut off, and all of which it says nothing.
        """
        held, received = self._gates.held(), self._gates.received
        for operation, number in enumerate(self._calls.numbers):
            life = self._notes.lives.operations.get(operation)
            taken = life is not None and life.submits > 0
            over = number in received and number not in held
            if operation not in self._landed and (over or (taken and (self._rests or number in self._notes.cut))):
                self._landed.add(operation)
                self._notes.saw(Landed, operation=operation)
