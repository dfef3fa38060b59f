"""Subjects examined from a command: progress, the output folder, and a partial report when it is broken off."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeVar

from rich.console import Console

from retryproof.exits import CommandError, Exit
from retryproof.options import ExamineOptions
from retryproof.sessions import Session, require_subject, with_subjects
from retryproof.side import Company, Side
from retryproof.terminal import bars
from retryproof.travelling import travelling
from retryproof.where import somewhere
from retryproof.writing import Examined
from signoff.items import Item, NothingToDoError, chosen_items
from suites.reach import Machine
from suites.together import together

T = TypeVar("T")


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
    name: str,
    items: tuple[Item, ...],
    options: ExamineOptions,
    console: Console,
    *,
    into: Path | None = None,
    on_written: Callable[[], None] = lambda: None,
) -> Examined:
    """Examine that subject. Raises CommandError, after what was found has been written as a partial report.

    into: the folder that it is written to (default: a new one). on_written: hears that there is a report, and that it
    is whole.
    """
    (examined,) = _examined([name], items, options, console, [into], on_written)
    return examined


def examine_sides(
    names: Sequence[str],
    items: tuple[Item, ...],
    options: ExamineOptions,
    console: Console,
    *,
    into: Sequence[Path],
    on_written: Callable[[], None],
) -> tuple[Examined, ...]:
    """The same of the sides of a sign-off, each in its folder: side by side where there are workers for both, else one
    after the other. Where one cannot go on, so does none.
    """
    standing = any(require_subject(name, options.given).standing for name in names)
    if options.in_this_process or standing:
        return tuple(
            examine_subject(name, items, options, console, into=path, on_written=on_written)
            for name, path in zip(names, into, strict=True)
        )
    return _examined(names, items, options, console, into, on_written)


def _examined(
    names: Sequence[str],
    items: tuple[Item, ...],
    options: ExamineOptions,
    console: Console,
    into: Sequence[Path | None],
    on_written: Callable[[], None],
) -> tuple[Examined, ...]:
    going = [None if options.ray is None else travelling(name, options.given) for name in names]

    async def work(sessions: tuple[Session, ...]) -> tuple[Examined, ...]:
        async with somewhere(options.ray) as where:
            with bars(console) as begin:
                company = Company(len(sessions))
                sides = [
                    Side(
                        session=session,
                        place=place,
                        items=items,
                        options=options,
                        begin=begin,
                        company=company,
                        on_written=on_written,
                        where=where,
                        travelling=going[place],
                    )
                    for place, session in enumerate(sessions)
                ]
                everything = together(side.examined(path) for side, path in zip(sides, into, strict=True))
                return tuple(await within(options.limit_s, everything))

    return with_subjects(names, work, options.given, console=console, toxiproxy=options.choice.toxiproxy)


async def within(limit_s: float | None, work: Awaitable[T]) -> T:
    """The same, broken off in good order after so many seconds: what hangs ends nothing but itself. None: however long.

    Raises CommandError (exit code 4) where that was needed.
    """
    try:
        async with asyncio.timeout(limit_s) as limit:
            return await work
    except CommandError as error:
        if not limit.expired():
            raise
        raise CommandError(f"not done within {limit_s:g} s, so it was ended: {error}", Exit.COULD_NOT_RUN) from None
