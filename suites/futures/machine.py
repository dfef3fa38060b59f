"""Scripts that Hypothesis draws step by step, each step lived through before the next is drawn: what may come next
depends on who is there, never on chance inside a step.
"""

from collections.abc import Callable
from typing import ClassVar, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from suites.findings import Verdict
from suites.futures import steps
from suites.futures.drawing import MOST, STRANGERS, Drawn, moments
from suites.futures.judging import judge_record
from suites.futures.offer import Storage, Store
from suites.futures.player import Player
from suites.futures.script import Script, script_of
from suites.futures.steps import AnyStep, First, Other
from suites.futures.struck import STRIKES
from suites.futures.table import Table
from suites.tinker.open_call import Departure

T = TypeVar("T")

POLLS = 6  # that wait at the same time
SESSIONS = 4  # of one script, at most, but for those after a restart
OPERATIONS = 6
SCARCE_BYTES = 14_000  # two sessions, and a few operations
# The store of a script, and how often it may restart its server, or strike its container: seldom, for each time costs
# an interpreter, or seconds.
SETTINGS = (
    *[(Storage(), 0)] * 14,
    *[(Storage(store=Store.SQLITE), 0)] * 8,
    *[(Storage(), 1)] * 4,
    *[(Storage(store=Store.SQLITE), 1)] * 3,
    (Storage(store=Store.SQLITE), 2),
    (Storage(max_bytes=SCARCE_BYTES), 0),
)


class BrokenMustError(AssertionError):
    """A script on which the server broke a must."""


Happening = Callable[[Drawn], None]

_NUMBERS = st.integers(0, MOST - 1)


class FuturesMachine(RuleBasedStateMachine):
    """Callers of futures, their router, and time. `table` is set in a subclass of its own for each run."""

    table: ClassVar[Table]

    def __init__(self) -> None:
        super().__init__()
        self.storage = Storage()
        self.steps: list[AnyStep] = []
        self.restarts = 0
        self.strikes = 0
        self.player: Player | None = None
        self.failed = False

    @initialize(setting=st.sampled_from(SETTINGS))
    def begin(self, setting: tuple[Storage, int]) -> None:
        """A store, and a session."""
        if self.table.is_shrunk:
            return
        powers = self.table.powers
        storage, restarts = setting
        self.storage = Storage(
            store=Store.MEMORY if powers.no_sqlite else storage.store,
            max_bytes=0 if powers.no_room else storage.max_bytes,
        )
        self.restarts = 0 if powers.no_restart else restarts
        self.strikes = 0 if powers.no_container else min(restarts, 1)
        may_lose = self.storage.store is Store.MEMORY and self.restarts > 0
        alone = may_lose or self.storage.max_bytes > 0  # see Script.alone
        self.player = self.table.run(self.table.theatre.enter(self.storage, fresh=alone))
        self.do(steps.Open())

    @rule(what=_NUMBERS, which=_NUMBERS, how=_NUMBERS, lost=_NUMBERS)
    def step(self, what: int, which: int, how: int, lost: int) -> None:
        """One of the things that may happen now; those that lead on come more often. What is drawn are plain numbers,
        the same ones whatever the server did: only what they choose depends on it.
        """
        if self.player is None:
            return
        happenings = [one for one, weight in self._happenings() for _ in range(weight)]
        happenings[what % len(happenings)](Drawn(which=which, how=how, lost=lost))

    def _happenings(self) -> list[tuple[Happening, int]]:
        """What may happen now, the simplest first, and how often."""
        cast, powers = self.playing.cast, self.table.powers
        room = len(cast.waiting) < POLLS
        return [
            (self._submit, 5 if cast.operations < OPERATIONS else 0),
            (self._poll_and_read, 3 if self.asked_for and room else 0),
            (self._poll, 7 if self.asked_for and room else 0),
            (self._land, 5 if cast.held else 0),
            (self._advance, 0 if powers.no_clock else 6),
            (self._leave, 7 if cast.waiting else 0),
            (self._read, 2 if cast.waiting else 0),
            (self._cross, 8 if self.crossable else 0),
            (self._leave_and_land, 6 if self.crossable else 0),
            (self._resubmit, 4 if cast.operations else 0),
            (self._beat, 1),
            (self._ask, 1),
            (self._open, self._wish_to_open()),
            (self._restart, self._wish_to_restart()),
            (self._strike, 3 if self.strikes else 0),
            (self._heal, 1 if cast.held else 0),
        ]

    def _wish_to_restart(self) -> int:
        """Rather while somebody waits for what is in flight: who waits is forgotten in no other way, and an id is given
        out twice in this one too.
        """
        if not self.restarts or not self.playing.cast.operations:
            return 0
        return 40 if self.crossable else 3

    def _wish_to_open(self) -> int:
        """A session is needed where none lives."""
        cast, lives = self.playing.cast, self.playing.lives
        if not any(lives.lives(session) for session in range(cast.sessions)):
            return 20
        return 1 if cast.sessions < SESSIONS else 0

    def _open(self, _: Drawn) -> None:
        self.do(steps.Open())

    def _beat(self, drawn: Drawn) -> None:
        self.do(steps.Beat(session=drawn.late(range(self.playing.cast.sessions))))

    def _submit(self, drawn: Drawn) -> None:
        session = drawn.late(range(self.playing.cast.sessions))
        self.do(steps.Submit(session=session, faults=drawn.faults, lost=drawn.loss, copies=drawn.copies))

    def _resubmit(self, drawn: Drawn) -> None:
        operation = drawn.late(range(self.playing.cast.operations))
        other = drawn.one_of((None, None, *Other))
        self.do(steps.Resubmit(operation=operation, other=other, lost=None if other else drawn.loss))

    def _poll(self, drawn: Drawn) -> None:
        in_flight = [operation for operation in self.asked_for if operation in self.playing.cast.held]
        self.do(steps.Poll(operation=drawn.late([*self.asked_for, *in_flight, *in_flight]), json=drawn.seldom))

    def _poll_and_read(self, drawn: Drawn) -> None:
        self._poll(drawn)
        self.do(steps.Read(poll=len(self.playing.cast.polls) - 1))

    def _read(self, drawn: Drawn) -> None:
        self.do(steps.Read(poll=drawn.late(sorted(self.playing.cast.waiting))))

    def _leave(self, drawn: Drawn) -> None:
        self.do(steps.Leave(poll=drawn.late(sorted(self.playing.cast.waiting)), how=drawn.one_of(self._ways)))

    def _land(self, drawn: Drawn) -> None:
        self.do(steps.Land(operation=drawn.late(sorted(self.playing.cast.held))))

    def _cross(self, drawn: Drawn) -> None:
        first = tuple(First)[drawn.lost % 2]
        self.do(steps.Cross(poll=drawn.late(self.crossable), how=drawn.one_of(self._ways), first=first))

    def _leave_and_land(self, drawn: Drawn) -> None:
        """It lands with one poller less, perhaps with none; for a while after that nobody comes."""
        poll = drawn.late(self.crossable)
        self.do(steps.Leave(poll=poll, how=drawn.one_of(self._ways)))
        self.do(steps.Land(operation=self.playing.cast.polls[poll]))
        if drawn.lost % 2 and not self.table.powers.no_clock:
            self.do(steps.Advance(ms=self.playing.lives.terms.retrieved_ms + 1))

    def _ask(self, drawn: Drawn) -> None:
        self.do(steps.Ask(request_id=drawn.one_of(STRANGERS)))

    def _advance(self, drawn: Drawn) -> None:
        self.do(steps.Advance(ms=drawn.one_of(moments(self.playing.lives))))

    def _restart(self, drawn: Drawn) -> None:
        """Whoever waits is owed an answer by a server that is told to end, and none by one that is killed."""
        self.restarts -= 1
        one_in = 4 if self.crossable else 2
        self.do(steps.Restart(killed=drawn.how % one_in == 1))
        self.do(steps.Open())
        self.do(steps.Submit(session=self.playing.cast.sessions - 1))

    def _strike(self, drawn: Drawn) -> None:
        """The container of its router: somebody comes meanwhile, and when all is well again."""
        self.strikes -= 1
        how = drawn.one_of([how for how in STRIKES if not self.table.powers.no_strike(how)])
        held = sorted(self.playing.cast.held)
        self.do(steps.Disturb(how=how, landing=drawn.late(held) if held and drawn.lost % 2 else None))
        self._submit(drawn)
        self.do(steps.Calm())
        self.do(steps.Submit(session=self.playing.cast.sessions - 1))

    def _heal(self, _: Drawn) -> None:
        self.do(steps.Heal())

    @property
    def _ways(self) -> list[Departure]:
        none = self.table.powers.no_vanishing
        return [how for how in Departure if how is not Departure.VANISH or not none]

    def teardown(self) -> None:
        """All is let go, all is asked for, and the script is judged whole."""
        player = self.player
        if player is None:
            return
        try:
            if not self.failed:
                self.table.run(player.finish())
            broken = self.table.played.add(player.record(self.script()))
        finally:
            self.player = None
            self.table.run(self.table.theatre.leave(player, self.storage))
        if broken and not self.failed:
            self._break()

    def script(self) -> Script:
        """What has been done so far."""
        return script_of(tuple(self.steps), store=self.storage.store, max_bytes=self.storage.max_bytes)

    def do(self, step: AnyStep) -> None:
        """One step, lived through and judged."""
        self.steps.append(step)
        self.table.run(self.playing.perform(step))
        if judge_record(self.playing.record(self.script())).verdict is Verdict.FAIL:
            self.failed = True
            self._break()

    def _break(self) -> None:
        raise BrokenMustError

    @property
    def playing(self) -> Player:
        """The player of this script."""
        assert self.player is not None
        return self.player

    @property
    def asked_for(self) -> list[int]:
        """The operations that somebody was given an id for."""
        lives = self.playing.lives.operations
        return [operation for operation in range(self.playing.cast.operations) if lives[operation].first_id]

    @property
    def crossable(self) -> list[int]:
        """The polls that wait for what is held."""
        cast = self.playing.cast
        return [poll for poll in sorted(cast.waiting) if cast.polls[poll] in cast.held]
