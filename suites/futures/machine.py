"""Scripts that Hypothesis draws step by step, each step lived through before the next is drawn: what may come next
depends on who is there, never on chance inside a step.
"""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import FlakyFailure
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from suites.findings import Verdict
from suites.futures import steps
from suites.futures.drawing import QUICK, SLOW, STRANGERS, moments
from suites.futures.host import Powers
from suites.futures.judging import judge_record
from suites.futures.played import Played
from suites.futures.player import Player
from suites.futures.script import Script, Store, script_of
from suites.futures.steps import AnyStep, First, Loss, Other
from suites.futures.theatre import Theatre
from suites.tinker.open_call import Departure

T = TypeVar("T")

STEPS = 24  # of one script, at most
POLLS = 6  # that wait at the same time
RESTARTS = (0, 0, 0, 0, 0, 0, 0, 1, 2)  # of one script: each costs an interpreter


class BrokenMustError(AssertionError):
    """A script on which the server broke a must."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """What the machine plays at: the theatre, on its loop, which is not that of the caller's thread."""

    theatre: Theatre
    loop: asyncio.AbstractEventLoop
    powers: Powers
    played: Played

    def run(self, doing: Coroutine[Any, Any, T]) -> T:
        """Do it there, and wait for it."""
        return asyncio.run_coroutine_threadsafe(doing, self.loop).result()


class FuturesMachine(RuleBasedStateMachine):
    """Callers of futures, their router, and time. `table` is set in a subclass of its own for each run."""

    table: ClassVar[Table]

    def __init__(self) -> None:
        super().__init__()
        self.store = Store.MEMORY
        self.steps: list[AnyStep] = []
        self.restarts = 0
        self.player: Player | None = None
        self.failed = False

    @initialize(sqlite=st.booleans(), restarts=st.sampled_from(RESTARTS))
    def begin(self, sqlite: bool, restarts: int) -> None:
        """A store, and a session."""
        powers = self.table.powers
        self.store = Store.SQLITE if sqlite and not powers.no_sqlite else Store.MEMORY
        self.restarts = 0 if powers.no_restart else restarts
        self.player = self.table.run(self.table.theatre.enter(self.store))
        self.do(steps.Open())

    @precondition(lambda self: self.playing.cast.sessions < 3)
    @rule()
    def open(self) -> None:
        self.do(steps.Open())

    @rule(data=st.data())
    def beat(self, data: st.DataObject) -> None:
        self.do(steps.Beat(session=data.draw(st.integers(0, self.playing.cast.sessions - 1))))

    @rule(data=st.data(), lost=st.sampled_from([None, None, None, *Loss]))
    def submit(self, data: st.DataObject, lost: Loss | None) -> None:
        session = self.playing.cast.sessions - 1 - data.draw(st.integers(0, self.playing.cast.sessions - 1))
        self.do(steps.Submit(session=session, faults=data.draw(_faults()), lost=lost))

    @precondition(lambda self: self.playing.cast.operations)
    @rule(data=st.data(), other=st.sampled_from([None, None, *Other]), lost=st.sampled_from([None, None, *Loss]))
    def resubmit(self, data: st.DataObject, other: Other | None, lost: Loss | None) -> None:
        operation = data.draw(self._operations())
        self.do(steps.Resubmit(operation=operation, other=other, lost=None if other else lost))

    @precondition(lambda self: self.asked_for and len(self.playing.cast.waiting) < POLLS)
    @rule(data=st.data())
    def poll(self, data: st.DataObject) -> None:
        self.do(steps.Poll(operation=data.draw(st.sampled_from(self.asked_for))))

    @precondition(lambda self: self.asked_for and len(self.playing.cast.waiting) < POLLS)
    @rule(data=st.data())
    def poll_and_read(self, data: st.DataObject) -> None:
        self.do(steps.Poll(operation=data.draw(st.sampled_from(self.asked_for))))
        self.do(steps.Read(poll=len(self.playing.cast.polls) - 1))

    @precondition(lambda self: self.playing.cast.waiting)
    @rule(data=st.data())
    def read(self, data: st.DataObject) -> None:
        self.do(steps.Read(poll=data.draw(self._waiting())))

    @precondition(lambda self: self.playing.cast.waiting)
    @rule(data=st.data())
    def leave(self, data: st.DataObject) -> None:
        self.do(steps.Leave(poll=data.draw(self._waiting()), how=data.draw(self._ways())))

    @precondition(lambda self: self.playing.cast.held)
    @rule(data=st.data())
    def land(self, data: st.DataObject) -> None:
        self.do(steps.Land(operation=data.draw(st.sampled_from(sorted(self.playing.cast.held)))))

    @precondition(lambda self: self.crossable)
    @rule(data=st.data(), first=st.sampled_from(First))
    def cross(self, data: st.DataObject, first: First) -> None:
        poll = data.draw(st.sampled_from(self.crossable))
        self.do(steps.Cross(poll=poll, how=data.draw(self._ways()), first=first))

    @rule(request_id=st.sampled_from(STRANGERS))
    def ask(self, request_id: str) -> None:
        self.do(steps.Ask(request_id=request_id))

    @precondition(lambda self: not self.table.powers.no_clock)
    @rule(data=st.data())
    def advance(self, data: st.DataObject) -> None:
        self.do(steps.Advance(ms=data.draw(st.sampled_from(moments(self.playing.lives)))))

    @precondition(lambda self: self.restarts > 0)
    @rule(killed=st.booleans())
    def restart(self, killed: bool) -> None:
        self.restarts -= 1
        self.do(steps.Restart(killed=killed))
        self.do(steps.Open())

    @precondition(lambda self: self.playing.cast.held)
    @rule()
    def heal(self) -> None:
        self.do(steps.Heal())

    def teardown(self) -> None:
        """All is let go, all is asked for, and the script is judged whole."""
        if self.player is None:
            return
        player, self.player = self.player, None
        try:
            if not self.failed:
                self.table.run(player.finish())
            broken = self.table.played.add(player.record(self.script()))
        except BaseException:
            self.failed = True
            raise
        finally:
            self.table.run(self.table.theatre.leave(player, self.store, whole=not self.failed))
        if broken and not self.failed:
            self.table.run(self.table.theatre.forget(self.store))
            self._break()

    def script(self) -> Script:
        """What has been done so far."""
        return script_of(tuple(self.steps), store=self.store)

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

    def _operations(self) -> st.SearchStrategy[int]:
        return st.integers(0, self.playing.cast.operations - 1)

    def _waiting(self) -> st.SearchStrategy[int]:
        return st.sampled_from(sorted(self.playing.cast.waiting))

    def _ways(self) -> st.SearchStrategy[Departure]:
        return st.sampled_from(
            [how for how in Departure if how is not Departure.VANISH or not self.table.powers.no_vanishing]
        )


def _faults() -> st.SearchStrategy[tuple[str, ...]]:
    return st.one_of(st.just(()), st.just(()), st.sampled_from(QUICK * 4 + SLOW).map(lambda fault: (fault,)))


def play_drawn(table: Table, *, examples: int, seed_number: int) -> None:
    """So many scripts, drawn from that seed; the first that breaks a must is shrunk, and then it ends. What came of
    them is in `table.played`.
    """
    machine = seed(seed_number)(type("Machine", (FuturesMachine,), {"table": table}))
    try:
        run_state_machine_as_test(machine, settings=_settings(examples))
    except (BrokenMustError, FlakyFailure):
        return


def _settings(examples: int) -> settings:
    return settings(
        max_examples=examples,
        stateful_step_count=STEPS,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        report_multiple_bugs=False,
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
    )
