"""What a command needs around its work: an event loop, a thread of routers, a supervisor of processes; and the
one place where errors of the parts become messages with exit codes.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

import uvloop

from fake_router.thread import RouterThread
from retryproof.exits import CommandError, Exit
from suites.driver import Driver
from suites.findings import Verdict
from suites.processes import ProcessError, Supervisor
from suites.reach import Machine
from suites.registry import subject_named
from suites.subject import Subject, SubjectError

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """All that examining one subject needs."""

    name: str
    subject: Subject
    driver: Driver
    machine: Machine


def with_subject(name: str, work: Callable[[Session], Awaitable[T]]) -> T:
    """Do the work with that subject, and leave no process, thread or socket behind.

    Raises CommandError: exit code 2 where the name or its file is wrong, 4 where the subject cannot run, 130 after
    Ctrl-C, when everything has been written and cleaned up.
    """
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(_session(name, work))
    except (SubjectError, ProcessError) as error:
        raise CommandError(str(error), Exit.COULD_NOT_RUN) from None
    except KeyboardInterrupt:
        raise CommandError("interrupted; what was found so far is written", Exit.INTERRUPTED) from None


async def _session(name: str, work: Callable[[Session], Awaitable[T]]) -> T:
    with RouterThread() as routers:
        async with Supervisor() as supervisor:
            try:
                subject: Subject = subject_named(name, supervisor)
            except ValueError as error:
                raise CommandError(str(error), Exit.USAGE) from None
            driver = Driver(subject=subject, routers=routers)
            return await work(Session(name=name, subject=subject, driver=driver, machine=Machine.here()))


def verdict_exit(verdicts: Iterable[Verdict]) -> Exit:
    """The exit code of the worst verdict; none at all proves nothing."""
    worst = max(verdicts, default=Verdict.UNKNOWN)
    return {Verdict.PASS: Exit.PASS, Verdict.UNKNOWN: Exit.UNKNOWN, Verdict.FAIL: Exit.FAIL}[worst]
