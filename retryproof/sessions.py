"""What a command needs around its work: an event loop, a thread of routers, a supervisor of processes; and the
one place where errors of the parts become messages with exit codes.
"""

import asyncio
import errno
import resource
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import uvloop
from rich.console import Console

from fake_router.bound import ListenError
from fake_router.thread import RouterThread
from retryproof.exits import CommandError, Exit, with_notes
from retryproof.interrupts import cancelling
from retryproof.output import say
from retryproof.temporary import temporary_folder
from retryproof.terminal import steps
from suites.chain import ChainSubject
from suites.driver import Driver
from suites.ending import to_the_end
from suites.findings import Verdict
from suites.given import NOTHING_GIVEN, Given
from suites.installed import Installed
from suites.numbers import Numbers
from suites.passage import Toxiproxy
from suites.processes import ProcessError, Supervisor
from suites.reach import Machine
from suites.registry import subject_named
from suites.stacks.stack import StackSubject
from suites.subject import Subject, SubjectError, SubjectSpec
from suites.toxiproxy.building import Builder, obtain
from suites.toxiproxy.errors import ToxiproxyError
from suites.toxiproxy.source import require_client

T = TypeVar("T")

NEEDED_FILES = 512  # open at once: 16 lanes, each with sockets on both sides of the forwarder, and room
_ADVICE = {
    errno.EMFILE: "raise the limit with `ulimit -n`",
    errno.ENFILE: "close other programs, or raise fs.file-max",
    errno.ENOSPC: "free some space, or name another folder for temporary files in TMPDIR",
    errno.EDQUOT: "free some space, or name another folder for temporary files in TMPDIR",
    errno.EFBIG: "raise the limit with `ulimit -f`",
    errno.EACCES: "run as a user who may, or name a folder of yours in TMPDIR",
    errno.EADDRNOTAVAIL: "free some local ports",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """All that examining one subject needs."""

    name: str
    subject: Subject
    driver: Driver
    machine: Machine


def require_subject(name: str, given: Given = NOTHING_GIVEN) -> SubjectSpec:
    """What is known of that subject before it runs; starts nothing.

    Raises CommandError: exit code 2 for a name that is no subject, or whose file cannot be used; 4 for a module that
    cannot be imported.
    """
    try:
        return subject_named(name, Supervisor(), given).spec
    except ValueError as error:
        raise CommandError(str(error), Exit.USAGE) from None
    except SubjectError as error:
        raise CommandError(str(error), Exit.COULD_NOT_RUN) from None
    except RecursionError:
        raise CommandError(
            f"subject {name!r} is nested too deeply; expected a subject file in TOML", Exit.USAGE
        ) from None
    except OSError as error:
        raise CommandError(
            f"subject {name!r}: {error.strerror}; expected a built-in name (`retryproof subjects`) or a TOML file",
            Exit.USAGE,
        ) from None


def with_subject(
    name: str,
    work: Callable[[Session], Awaitable[T]],
    given: Given = NOTHING_GIVEN,
    *,
    console: Console,
    toxiproxy: bool = False,
    numbers: Numbers | None = None,
) -> T:
    """with_subjects, of one. numbers: of its operations."""

    async def work_of_one(sessions: tuple[Session, ...]) -> T:
        return await work(sessions[0])

    return with_subjects([name], work_of_one, given, console=console, toxiproxy=toxiproxy, numbers=numbers)


def with_subjects(
    names: Sequence[str],
    work: Callable[[tuple[Session, ...]], Awaitable[T]],
    given: Given = NOTHING_GIVEN,
    *,
    console: Console,
    toxiproxy: bool = False,
    numbers: Numbers | None = None,
) -> T:
    """Do the work with the subjects that `require_subject` accepts; leave no process, thread or socket behind.

    toxiproxy: with a Toxiproxy between their hops, which is built where there is none; that is told on `console`.

    Raises CommandError: exit code 4 where a subject or the machine cannot run it, 130 when it was interrupted, after
    everything has been written and cleaned up.
    """
    _require_files()
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            tools = _Tools(given=given, console=console, toxiproxy=toxiproxy, numbers=numbers or Numbers())
            return runner.run(_with_sessions(names, work, tools))
    except (SubjectError, ProcessError, ToxiproxyError) as error:
        raise CommandError(with_notes(error, str(error)), Exit.COULD_NOT_RUN) from None
    except (KeyboardInterrupt, asyncio.CancelledError):
        raise CommandError("interrupted", Exit.INTERRUPTED) from None
    except OSError as error:
        raise CommandError(in_words(error), Exit.COULD_NOT_RUN) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tools:
    """What the sessions of one command share, beside its processes. toxiproxy: there is one on the way."""

    given: Given
    console: Console
    toxiproxy: bool
    numbers: Numbers


async def _with_sessions(names: Sequence[str], work: Callable[[tuple[Session, ...]], Awaitable[T]], tools: _Tools) -> T:
    task = asyncio.current_task()
    assert task is not None
    with _temporary_folder() as leave, cancelling(task, leave), RouterThread() as routers:
        async with Supervisor() as supervisor:
            subjects = [_startable(name, supervisor, tools.given) for name in names]
            async with _around(subjects, supervisor, tools) as between, AsyncExitStack() as stack:
                machine = Machine.here(toxiproxy=between is not None)
                sessions = []
                for name, subject in zip(names, subjects, strict=True):
                    driver = Driver(subject=subject, routers=routers, toxiproxy=between, numbers=tools.numbers)
                    await stack.enter_async_context(driver)
                    sessions.append(Session(name=name, subject=subject, driver=driver, machine=machine))
                ours = asyncio.all_tasks()
                try:
                    return await work(tuple(sessions))
                finally:
                    await _end(asyncio.all_tasks() - ours)


def _startable(name: str, supervisor: Supervisor, given: Given) -> Subject:
    """Raises SubjectError, with what to install, for one that cannot run here."""
    subject = subject_named(name, supervisor, given)
    if isinstance(subject, Installed | ChainSubject) and (missing := subject.missing()):
        raise SubjectError(missing)
    return subject


@asynccontextmanager
async def _around(
    subjects: Sequence[Subject], supervisor: Supervisor, tools: _Tools
) -> AsyncIterator[Toxiproxy | None]:
    """What these are made of, and the Toxiproxy on their way."""
    async with _prepared(subjects, tools.console), toxiproxy_if(tools.toxiproxy, supervisor, tools.console) as between:
        yield between


async def _close(subject: StackSubject, _: object, error: BaseException | None, __: object) -> None:
    try:
        await to_the_end(subject.close())
    except SubjectError:
        if error is None:  # else it says more than what comes of cleaning up
            raise


@asynccontextmanager
async def _prepared(subjects: Sequence[Subject], console: Console) -> AsyncIterator[None]:
    """What stacks are made of is built while somebody can see it; what earlier runs had left of theirs is told. Of
    these nothing is left.
    """
    async with AsyncExitStack() as stack:
        for subject in subjects:
            if isinstance(subject, StackSubject):
                stack.push_async_exit(partial(_close, subject))
                with steps(console, say) as (stage, line):
                    left = await subject.prepare(stage, line)
                if left:
                    say(f"removed what runs that were killed had left: {', '.join(left)}")
        yield


@asynccontextmanager
async def toxiproxy_if(wanted: bool, supervisor: Supervisor, console: Console) -> AsyncIterator[Toxiproxy | None]:
    """A Toxiproxy of ours, built where there is none, which is told on `console`; None where it is not wanted. Raises
    ToxiproxyError.
    """
    if not wanted:
        yield None
        return
    require_client()
    from suites.toxiproxy.succession import Succession  # what it is made of need not be installed

    with steps(console, say) as (stage, line):
        source = await obtain(Builder(supervisor, stage=stage, line=line, fetches_go=False))
    async with Succession.open(supervisor, source) as servers:
        yield servers


@contextmanager
def _temporary_folder() -> Iterator[Callable[[], None]]:
    """All that subjects write goes into one folder, which is gone afterwards, whatever was interrupted meanwhile.
    Yields what removes it at once.
    """
    before = tempfile.tempdir
    with temporary_folder() as folder:
        tempfile.tempdir = str(folder)
        try:
            yield partial(shutil.rmtree, folder, ignore_errors=True)
        finally:
            tempfile.tempdir = before


async def _end(tasks: set[asyncio.Task[Any]]) -> None:
    """What the work has left under way ends while its routers and processes can still be told."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def in_words(error: OSError) -> str:
    """What the machine refused, and what to do."""
    if isinstance(error, ListenError):
        return str(error.strerror)
    what = error.strerror or str(error) or type(error).__name__
    where = f" ({error.filename!r})" if error.filename is not None else ""
    advice = _ADVICE.get(error.errno or 0, "put that right and run it again")
    return f"this machine refused something: {what}{where}; {advice}"


def _require_files() -> None:
    soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < NEEDED_FILES:
        raise CommandError(
            f"this process may have {soft} files open; expected {NEEDED_FILES} or more: sockets are files. "
            f"Raise the limit with `ulimit -n {NEEDED_FILES}`",
            Exit.COULD_NOT_RUN,
        )


def verdict_exit(verdicts: Iterable[Verdict]) -> Exit:
    """The exit code of the worst verdict; none at all proves nothing."""
    worst = max(verdicts, default=Verdict.UNKNOWN)
    return {Verdict.PASS: Exit.PASS, Verdict.UNKNOWN: Exit.UNKNOWN, Verdict.FAIL: Exit.FAIL}[worst]
