"""Performs the steps of a script on real sockets, one after the other, and records what happened. It draws nothing and
judges nothing. Order comes from gates, from the kernel and from the server's own word that it is quiet; it never sleeps
to let something happen.
"""

import asyncio
import time
from typing import assert_never

import msgspec

from suites.futures.calls import Calls
from suites.futures.checks.crash import RESTARTED
from suites.futures.control import ControlError, Quiet
from suites.futures.gates import Gates
from suites.futures.host import Host
from suites.futures.life import Lives
from suites.futures.notes import Notes
from suites.futures.record import (
    Answer,
    Answered,
    Asked,
    Beaten,
    Began,
    Broke,
    Counted,
    Ended,
    Landed,
    Left,
    Opened,
    Reached,
    Record,
    Silent,
    Submitted,
)
from suites.futures.script import Cast, Script, ending
from suites.futures.steps import (
    Advance,
    AnyStep,
    Ask,
    Beat,
    Cross,
    First,
    Heal,
    Land,
    Leave,
    Loss,
    Open,
    Other,
    Poll,
    Read,
    Restart,
    Resubmit,
    Submit,
)
from suites.numbers import Numbers
from suites.subject import Address, SubjectError
from suites.tinker.open_call import Departure

QUIET_MS = 10_000  # a server that is not quiet by then is broken, or this machine is
REPLY_MS = 500  # a reply that was sent before the server said that it is quiet
LOOK_S = 0.001


class Player:
    """One script, lived through on one server and one router. front: its callers reach the server there instead."""

    def __init__(
        self,
        host: Host,
        gates: Gates,
        numbers: Numbers,
        *,
        now_ms: int,
        front: Address | None = None,
        direct: bool = True,
    ) -> None:
        self.notes = Notes(msgspec.structs.replace(host.terms, direct=direct), now_ms)
        self.cast = Cast()
        self.broken = False
        self._host = host
        self._gates = gates
        self._calls = Calls(host.endpoint if front is None else host.endpoint.through(front), numbers)
        self._landed: set[int] = set()
        self._in_vain: set[int] = set()  # polls whose replies were waited for once, and did not come
        self._quiet_says: Quiet | None = None

    @property
    def lives(self) -> Lives:
        """What is known so far of operations, sessions and polls."""
        return self.notes.lives

    def record(self, script: Script) -> Record:
        """What has happened to that script so far."""
        return Record(
            script=script,
            terms=self.notes.terms,
            facts=tuple(self.notes.facts),
            ledger=self._gates.entries(),
            numbers=tuple(self._calls.numbers),
        )

    async def perform(self, step: AnyStep) -> None:
        """One more step, and quiescence after it. What breaks down is a fact, and nothing is done after it."""
        self.cast.take(step)
        self.notes.step += 1
        if self.broken:
            return
        try:
            await self._perform(step)
            await self._quiet()
        except (ControlError, SubjectError, OSError) as error:
            self._broke(str(error))

    async def finish(self) -> None:
        """All are let go, and every caller asks for its own: what must be retrievable is retrieved."""
        for step in ending(self.cast):
            await self.perform(step)

    async def rests(self) -> bool:
        """Nothing of this script is under way in the server any more."""
        control = self._host.control
        if control is None:
            return True
        try:
            quiet = await control.settle()
        except (ControlError, OSError):
            return False
        return not quiet.in_flight and not quiet.waiting

    async def close(self) -> None:
        """No connection of a caller is left, and nothing is held for them."""
        self._calls.close()
        await self._gates.heal()

    async def _perform(self, step: AnyStep) -> None:
        match step:
            case Open():
                place = self.cast.sessions - 1
                name, says = await self._calls.open_session(place)
                self.notes.saw(Opened, session=place, sampling_session=name, says=says)
            case Beat(session=session):
                self.notes.saw(Beaten, session=session, status=await self._calls.beat(session))
            case Submit():
                await self._submit(step)
            case Resubmit():
                await self._resubmit(step)
            case Poll(operation=operation):
                await self._poll(operation, json=step.json)
            case Ask(request_id=request_id):
                await self._ask(request_id)
            case Read(poll=poll):
                await self._read(poll)
            case Leave(poll=poll, how=how):
                self._leave(poll, how)
            case Cross():
                await self._cross(step)
            case Land(operation=operation):
                await self._land(operation)
            case Heal():
                await self._gates.heal()
            case Advance(ms=ms):
                await self._advance(ms)
            case Restart(killed=killed):
                await self._restart(killed=killed)
            case _:
                assert_never(step)

    async def _submit(self, step: Submit) -> None:
        operation = self.cast.operations - 1
        await self._gates.hold(self._calls.begin(step.session), step.faults)
        losses = [step.lost, *[None] * (step.copies - 1)]
        answers = await asyncio.gather(*(self._calls.submit(operation, lost=lost) for lost in losses))
        for place, answer in enumerate(answers):
            self._submitted(operation, answer, again=place > 0, at_once=place > 0, lost=losses[place])

    async def _resubmit(self, step: Resubmit) -> None:
        answer = await self._calls.submit(step.operation, other=step.other, lost=step.lost)
        self._submitted(step.operation, answer, again=True, other=step.other, lost=step.lost)

    def _submitted(
        self,
        operation: int,
        answer: Answer | None,
        *,
        again: bool,
        at_once: bool = False,
        other: Other | None = None,
        lost: Loss | None = None,
    ) -> None:
        self.notes.saw(
            Submitted,
            operation=operation,
            session=self._calls.session_of(operation),
            number=self._calls.number_of(operation, other),
            answer=answer,
            again=again,
            at_once=at_once,
            other=other,
            lost=lost,
        )

    async def _poll(self, operation: int, *, json: bool) -> None:
        """Nobody polls for what was given no id."""
        place = len(self.cast.polls) - 1
        life = self.lives.operations.get(operation)
        if life is not None and life.first_id:
            self.notes.saw(Asked, poll=place, operation=operation, request_id=life.first_id)
            await self._calls.poll(place, life.first_id, json=json)

    async def _ask(self, request_id: str) -> None:
        """Its number is below those of the polls that wait."""
        place = -1 - sum(poll < 0 for poll in self.lives.polls)
        self.notes.saw(Asked, poll=place, operation=None, request_id=request_id)
        self.notes.saw(Answered, poll=place, answer=await self._calls.ask(request_id))

    async def _read(self, poll: int) -> None:
        life = self.lives.polls.get(poll)
        if life is None or life.answered is not None:
            return
        expected = life.reached is not None or life.over or self.notes.is_owed(poll)
        answer = await self._calls.read(poll, self._reply_ms if expected else 0)
        if answer is not None:
            self.notes.saw(Answered, poll=poll, answer=answer)
        elif expected:
            self.notes.saw(Silent, poll=poll)

    def _leave(self, poll: int, how: Departure, *, crossing: bool = False) -> None:
        life = self.lives.polls.get(poll)
        if life is not None and life.answered is None:
            self._calls.polls[poll].leave(how)
            self.notes.saw(Left, poll=poll, how=how, crossing=crossing)

    async def _cross(self, step: Cross) -> None:
        operation = self.cast.polls[step.poll]
        if step.first is First.LANDS:
            await self._land(operation)
        self._leave(step.poll, step.how, crossing=True)
        if step.first is First.LEAVES:
            await self._land(operation)

    async def _land(self, operation: int) -> None:
        await self._gates.open(self._calls.number_of(operation))

    async def _advance(self, ms: int) -> None:
        control = self._host.control
        if control is None:
            raise ControlError(f"its clock cannot go on by {ms} ms; expected a server that has a test clock")
        self.notes.now_ms = (await control.advance(ms)).now_ms

    async def _restart(self, *, killed: bool) -> None:
        how = await self._host.end(killed=killed)
        self.notes.saw(Ended, killed=killed, how=how)
        for poll in self.notes.unread():
            answer = await self._calls.read(poll, REPLY_MS)
            if answer is not None:
                self.notes.saw(Answered, poll=poll, answer=answer)
        await self._gates.note(RESTARTED)
        kept = await self._host.begin(self.notes.now_ms)
        self.notes.saw(Began, kept=kept)

    async def _quiet(self) -> None:
        """Everything that this step has caused is over: the server says so, and what is in flight in it is held."""
        deadline = time.monotonic() + QUIET_MS / 1000
        while not await self._is_quiet():
            if time.monotonic() > deadline:
                raise ControlError(f"it was not quiet within {QUIET_MS} ms: {await self._gates.busy()} exchanges open")
            await asyncio.sleep(LOOK_S)  # a forward on its way to the router gives no event
        self._note_landings()
        await self._look()
        if self._quiet_says is not None:
            self.notes.saw(Counted, **msgspec.structs.asdict(self._quiet_says))

    async def _is_quiet(self) -> bool:
        held = len(self._gates.held())
        control = self._host.control
        if control is None:
            self.notes.by_the_clock()
            return await self._gates.busy() == held
        self._quiet_says = await control.settle()
        self.notes.now_ms = self._quiet_says.now_ms
        return self._quiet_says.in_flight == len(self._gates.held())

    async def _look(self) -> None:
        """Which polls have their replies by now."""
        for poll in self.notes.waiting():
            owed = self.notes.is_owed(poll) and poll not in self._in_vain
            if await self._calls.polls[poll].arrived(self._reply_ms if owed else 0):
                self.notes.saw(Reached, poll=poll)
            elif owed:
                self._in_vain.add(poll)

    @property
    def _reply_ms(self) -> int:
        """How long a reply that is owed is waited for: longer from a server that does not say when it is quiet."""
        return REPLY_MS if self.notes.terms.clock else QUIET_MS

    def _note_landings(self) -> None:
        """What the router has received and holds no more: it has answered, or the server has given it up."""
        held, received = self._gates.held(), self._gates.received
        for operation, number in enumerate(self._calls.numbers):
            if number in received and number not in held and operation not in self._landed:
                self._landed.add(operation)
                self.notes.saw(Landed, operation=operation)

    def _broke(self, says: str) -> None:
        self.broken = True
        self.notes.saw(Broke, says=says)
