"""Performs the steps of a script on real sockets, one after the other, and records what happened. It draws nothing and
judges nothing. Order comes from gates, from the kernel and from the server's own word that it is quiet; it never sleeps
to let something happen.
"""

from typing import assert_never

import msgspec

from suites.futures.calls import Calls
from suites.futures.checks.crash import RESTARTED
from suites.futures.control import ControlError, HungError
from suites.futures.disturbing import Disturbances
from suites.futures.gates import Gates
from suites.futures.host import Host
from suites.futures.lives import Lives
from suites.futures.notes import Notes
from suites.futures.quiescence import REPLY_MS, Quiescence
from suites.futures.record import (
    Answered,
    Asked,
    Beaten,
    Began,
    Broke,
    Ended,
    Hung,
    Left,
    Opened,
    Record,
    Silent,
)
from suites.futures.script import Cast, Script, ending
from suites.futures.steps import (
    Advance,
    AnyStep,
    Ask,
    Beat,
    Calm,
    Cross,
    Disturb,
    First,
    Heal,
    Land,
    Leave,
    Open,
    Poll,
    Read,
    Restart,
    Resubmit,
    Submit,
)
from suites.futures.submits import Submits
from suites.numbers import Numbers
from suites.subject import Address, SubjectError
from suites.tinker.open_call import Departure


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
        self._submits = Submits(gates, self._calls, self.notes)
        self._disturbances = Disturbances(host, gates, self.notes)
        self._quiescence = Quiescence(host, gates, self._calls, self.notes)

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
            await self._quiescence.reached()
        except HungError as error:
            self._broke(Hung, error)
        except (ControlError, SubjectError, OSError) as error:
            self._broke(Broke, error)

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
                await self._submits.submit(step, self.cast.operations - 1)
            case Resubmit():
                await self._submits.resubmit(step)
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
            case Disturb():
                await self._disturb(step)
            case Calm():
                await self._disturbances.end()
            case _:
                assert_never(step)

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
        answer = await self._calls.read(poll, self._quiescence.reply_ms if expected else 0)
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

    async def _disturb(self, step: Disturb) -> None:
        await self._disturbances.begin(step.how, briefly=step.briefly)
        if step.landing is not None:
            await self._land(step.landing)
        if step.briefly:
            await self._disturbances.end()

    def _broke(self, kind: type[Broke | Hung], error: Exception) -> None:
        self.broken = True
        self.notes.saw(kind, says=str(error))
