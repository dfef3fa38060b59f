"""Subjects examined from a command: progress, the output folder, and a partial report when it is broken off."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from retryproof.exits import CommandError, Exit
from retryproof.folder import OutputFolder
from retryproof.options import ExamineOptions
from retryproof.sessions import Session, require_subject, with_subjects
from retryproof.terminal import Begin, bars
from retryproof.workers import LIVES, Workers
from retryproof.writing import Examined, Writing
from signoff.examination import examine
from signoff.items import Item, NothingToDoError, chosen_items, wants_futures
from signoff.results import Examination
from suites.foreign import ForeignSubject
from suites.futures.offer import Offer
from suites.futures.suite import UNDER_TOXIPROXY, play_suite, suite_for
from suites.futures.told import told
from suites.lanes import first_of
from suites.reach import Machine


def items_for(names: Sequence[str], options: ExamineOptions) -> tuple[Item, ...]:
    """What these subjects are examined on, the same for each. Many plans take seconds to draw.

    Raises CommandError (exit code 2) for a name that is no subject, and for a choice that leaves nothing.
    """
    specs = [require_subject(name, options.given) for name in names]
    machine = Machine.here(toxiproxy=options.choice.toxiproxy)
    try:
        return chosen_items(options.choice, specs, machine)
    except NothingToDoError as error:
        raise CommandError(str(error), Exit.USAGE) from None


def examine_subject(
    name: str, items: tuple[Item, ...], options: ExamineOptions, console: Console, *, into: Path | None = None
) -> Examined:
    """Examine that subject. Raises CommandError, after what was found has been written as a partial report.

    into: the folder that it is written to (default: a new one).
    """
    (examined,) = _examined([name], items, options, console, [into])
    return examined


def examine_sides(
    names: Sequence[str], items: tuple[Item, ...], options: ExamineOptions, console: Console, *, into: Sequence[Path]
) -> tuple[Examined, ...]:
    """The same of the sides of a sign-off, each in its folder: side by side where there are workers for both, else one
    after the other. Where one cannot go on, so does none.
    """
    standing = any(require_subject(name, options.given).standing for name in names)
    if options.jobs == 1 or standing:
        return tuple(
            examine_subject(name, items, options, console, into=path) for name, path in zip(names, into, strict=True)
        )
    return _examined(names, items, options, console, into)


def _examined(
    names: Sequence[str],
    items: tuple[Item, ...],
    options: ExamineOptions,
    console: Console,
    into: Sequence[Path | None],
) -> tuple[Examined, ...]:
    async def work(sessions: tuple[Session, ...]) -> tuple[Examined, ...]:
        with bars(console) as begin:
            company = _Company(len(sessions))
            sides = [
                _Side(session=session, place=place, items=items, options=options, begin=begin, company=company)
                for place, session in enumerate(sessions)
            ]
            try:
                async with asyncio.TaskGroup() as group:
                    tasks = [group.create_task(side.examined(path)) for side, path in zip(sides, into, strict=True)]
            except BaseExceptionGroup as errors:
                raise first_of(errors) from None
            return tuple(task.result() for task in tasks)

    return with_subjects(names, work, options.given, console=console, toxiproxy=options.choice.toxiproxy)


class _Company:
    """The sides that are examined together. broke: the error of the one that could not go on."""

    def __init__(self, sides: int) -> None:
        self.sides = sides
        self.broke: BaseException | None = None
        self._all = asyncio.Barrier(sides)
        self._turn = asyncio.Lock()

    async def all_there(self) -> None:
        """Every side has lived through its cells."""
        await self._all.wait()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """No other side does anything meanwhile that needs this machine for itself."""
        async with self._turn:
            yield


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """One subject that is examined, maybe beside another. place: among them."""

    session: Session
    place: int
    items: tuple[Item, ...]
    options: ExamineOptions
    begin: Begin
    company: _Company

    async def examined(self, into: Path | None) -> Examined:
        """Raises CommandError, after what was found has been written as a partial report."""
        session, options = self.session, self.options
        folder = OutputFolder.new(options.out, session.name) if into is None else OutputFolder(into)
        writing = Writing(session, options, Examination(spec=session.subject.spec, items=self.items), folder)
        try:
            await self._live(writing)
            await self.company.all_there()
            if wants_futures(options.choice, [session.subject.spec]):
                async with self.company.alone():
                    await self._play_futures(writing)
            return writing.finish()
        except BaseException as error:  # noqa: BLE001  # whatever ends it, what was found is written
            raise writing.broken_off(self._own(error)) from None

    async def _live(self, writing: Writing) -> None:
        session, options = self.session, self.options
        workers = self._workers()
        if workers is not None and isinstance(session.subject, ForeignSubject):
            await session.subject.read_version()  # what starts an instance here may be nothing
        tick = self.begin(f"examining {session.name}", len(self.items))
        await examine(
            *(writing.examination, session.driver, session.machine, writing.recorder(tick)),
            lanes=options.lanes,
            through=None if workers is None else workers.live,
        )

    def _workers(self) -> Workers | None:
        """Its share of the processes; None: this one does it. There is only one of a subject that stands."""
        options = self.options
        count = -(-(options.jobs - self.place) // self.company.sides)  # jobs dealt out in turns
        if options.jobs == 1 or self.session.subject.spec.standing:
            return None
        return Workers(
            name=self.session.name,
            count=max(1, count),
            given=options.given,
            lanes=options.lanes,
            toxiproxy=options.choice.toxiproxy,
            first=1 + self.place * options.jobs * LIVES,
        )

    def _own(self, error: BaseException) -> BaseException:
        """What ends it: where that is another side, its error is ours too."""
        if isinstance(error, asyncio.CancelledError) and self.company.broke is not None:
            says = f"the other side could not go on: {self.company.broke}"
            return CommandError(says, Exit.COULD_NOT_RUN)
        self.company.broke = self.company.broke or error
        return error

    async def _play_futures(self, writing: Writing) -> None:
        session, choice = self.session, self.options.choice
        if choice.toxiproxy:
            writing.suite = suite_for(
                session.subject, examples=choice.scripts, seed_number=choice.seed, not_run=UNDER_TOXIPROXY
            )
            return
        await session.driver.stages.close()  # of a subject that stands, the router is where that of the scripts must be
        tick = self.begin(f"futures of {session.name}", len(told(Offer())) + choice.scripts)
        writing.suite = suite_for(session.subject, examples=choice.scripts, seed_number=choice.seed, on_script=tick)
        await play_suite(writing.suite, session.subject, session.driver.routers)
