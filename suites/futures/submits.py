"""Submits of a script: held at the router once received, and what each caller was told of it."""

import asyncio

from suites.futures.calls import Calls
from suites.futures.gates import Gates
from suites.futures.notes import Notes
from suites.futures.record import Answer, Submitted
from suites.futures.steps import Loss, Other, Resubmit, Submit


class Submits:
    """Those of one script."""

    def __init__(self, gates: Gates, calls: Calls, notes: Notes) -> None:
        self._gates = gates
        self._calls = calls
        self._notes = notes

    async def submit(self, step: Submit, operation: int) -> None:
        """A new operation, by as many callers as the step says."""
        number = self._calls.begin(step.session)
        await self._gates.hold(number, step.faults)
        if (how := self._notes.lives.disturbing) is not None and how.lasts:
            self._notes.cut.add(number)
        losses = [step.lost, *[None] * (step.copies - 1)]
        answers = await asyncio.gather(*(self._calls.submit(operation, lost=lost) for lost in losses))
        for place, answer in enumerate(answers):
            self._submitted(operation, answer, again=place > 0, at_once=place > 0, lost=losses[place])

    async def resubmit(self, step: Resubmit) -> None:
        """One that was submitted before, under the same key."""
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
        self._notes.saw(
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
