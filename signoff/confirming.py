"""What must come back alone, lived through again: what company, or a process that is not ours, may have caused."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

from signoff.items import Item
from signoff.results import Examination, Result
from signoff.twins import doubted_by_twins
from suites.findings import Proof, Verdict
from suites.judge import Judgement, came_back, confirm, judgement_of, says_nothing_of
from suites.lives import AT_A_TIME, Alone, is_doubtful, met_nothing, stalled
from suites.run import Run
from suites.together import together

MAX_UNPROVED = 40  # a subject on which more proves nothing proves nothing a second time
MAX_OPEN = 20  # one after the other: on a machine that stalls all the time there is an end to it
CHANCES = 2  # more for a confirmation that itself proved nothing

Record = Callable[[Item, Run], None]


class Confirming:
    """What company may have caused is lived through again alone, and what fails there by cause or timing for the first
    time once more. So is what proved nothing: one more chance to prove something can turn no FAIL into a PASS.
    """

    def __init__(self, examination: Examination, alone: Alone, record: Record) -> None:
        self._examination = examination
        self._alone = alone
        self._record = record
        self._doubtful: asyncio.Queue[Result | None] = asyncio.Queue()
        self._unproved: dict[str, Result] = {}
        self._open: list[Result] = []

    def add(self, result: Result) -> None:
        """It is there: whether it is confirmed is its own affair."""
        if _needs_confirming(result):
            self._doubtful.put_nowait(result)
        elif _may_prove_more(result):
            self._unproved[result.item.id] = result

    def no_more(self) -> None:
        """All are there. Of those that proved nothing the first are taken, in the order of the items."""
        in_order = [item.id for item in self._examination.items if item.id in self._unproved]
        self._take(self._unproved[id_] for id_ in in_order[:MAX_UNPROVED])

    def _take(self, last: Iterable[Result]) -> None:
        for result in last:
            self._doubtful.put_nowait(result)
        for _ in range(AT_A_TIME):
            self._doubtful.put_nowait(None)

    async def as_they_come(self) -> None:
        """All of them, a few at a time, until there are no more. Raises SubjectError."""
        await together(self._one_by_one() for _ in range(AT_A_TIME))

    async def once_more(self) -> None:
        """What is open is confirmed again, a few at a time, since nobody else lives through plans of this subject any
        more. Raises SubjectError.
        """
        was_open, self._open = self._open, []
        self._take(was_open)
        await self.as_they_come()

    async def what_is_open(self) -> None:
        """A confirmation that proved nothing is made again: neither does it confirm, nor does it say that nothing came
        back. One after the other, since a machine that is busy may be the reason. Raises SubjectError.
        """
        for result in self._open[:MAX_OPEN]:
            for _ in range(CHANCES):
                again = await self._twice_where_needed(result)
                if not again.is_open:
                    break

    async def what_its_twin_doubts(self) -> None:
        """A cell that went otherwise than its twin's in a run in which this machine stalled is lived through again, and
        so is its twin's if it was in one: no matter what comes of it. One after the other. Raises SubjectError.
        """
        for _ in range(CHANCES):
            for result in doubted_by_twins(self._examination)[:MAX_OPEN]:
                await self._twice_where_needed(result)

    async def _one_by_one(self) -> None:
        while (result := await self._doubtful.get()) is not None:
            if (await self._twice_where_needed(result)).is_open:
                self._open.append(result)

    async def _twice_where_needed(self, result: Result) -> "_Again":
        """What fails by cause or timing for the first time is lived through once more."""
        again = await self._once_more(result)
        if again.replaces and _fails_by_cause(again.judgement):
            again = await self._once_more(again.after)
        was = self._examination.results[result.item.id]
        kept = again.after.judgement.verdict is Verdict.FAIL  # what it was cut down to meanwhile still shows it
        self._examination.results[result.item.id] = replace(again.after, smallest=was.smallest if kept else None)
        return again

    async def _once_more(self, result: Result) -> "_Again":
        run, judgement = await self._alone.live(result.run.plan, partial(self._record, result.item))
        return _Again(result=result, run=run, judgement=judgement)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Again:
    """A result, and a run of its plan alone."""

    result: Result
    run: Run
    judgement: Judgement

    @property
    def replaces(self) -> bool:
        """What proved nothing, or came by its failure while the machine stalled, is replaced, whatever its replacement
        shows.
        """
        return self.result.judgement.verdict is not Verdict.FAIL or is_doubtful(self.result.run, self.result.judgement)

    @property
    def after(self) -> Result:
        """What became of it alone: to what is not replaced, what it broke alone is added."""
        if self.replaces:
            return replace(self.result, run=self.run, judgement=self.judgement)
        confirmed = tuple(confirm(finding, self.judgement) for finding in self.result.judgement.findings)
        known = {finding.check for finding in confirmed if finding.verdict is Verdict.FAIL}
        more = tuple(
            replace(finding, says=f"alone: {finding.says}", entries=())
            for finding in self.judgement.failures
            if finding.check not in known
        )
        return replace(self.result, judgement=judgement_of((*confirmed, *more)))

    @property
    def is_open(self) -> bool:
        """Something was to be shown, and this run shows it neither way: the machine stalled in it, or what was to come
        back was not there to be judged.
        """
        if self.replaces:
            return self.judgement.verdict is Verdict.UNKNOWN and stalled(self.run)
        sought = [f for f in self.result.judgement.failures if f.proof is Proof.CAUSE]
        missing = [finding for finding in sought if not came_back(finding, self.judgement)]
        if not missing or stalled(self.run) or not self.run.settled:
            return bool(missing) and stalled(self.run)
        return bool(self.judgement.unknowns) or any(says_nothing_of(finding, self.judgement) for finding in missing)


def _needs_confirming(result: Result) -> bool:
    """A death must come back alone, and so must what fails by cause or timing: whoever else kept this machine busy, a
    process that is not ours included, may have made the difference.
    """
    judgement = result.judgement
    if judgement.verdict is Verdict.UNKNOWN:
        return False
    if result.run.died is not None or is_doubtful(result.run, judgement):
        return True
    if stalled(result.run):
        return True  # what failed for lack of time was no occasion to send again; and a cell is held against its twin
    return _fails_by_cause(judgement)


def _fails_by_cause(judgement: Judgement) -> bool:
    return any(finding.proof is Proof.CAUSE for finding in judgement.failures)


def _may_prove_more(result: Result) -> bool:
    """It proved nothing since the machine stalled, since it was in company, or since a fault was not met. A subject
    that hung, or a check that crashed, gets no second chance.
    """
    judgement, run = result.judgement, result.run
    if judgement.verdict is not Verdict.UNKNOWN:
        return False
    return stalled(run) or run.company or met_nothing(run, judgement)
