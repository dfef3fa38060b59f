"""A stack as a subject: each instance is a compose project of its own, on ports of its own."""

import asyncio
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from suites.ending import to_the_end
from suites.processes import Supervisor
from suites.side_thread import on_a_thread
from suites.stacks.compose_file import StackFile
from suites.stacks.composing import Composer, Told
from suites.stacks.errors import StackError
from suites.stacks.instance import StackInstance
from suites.stacks.owner import Owner
from suites.subject import SubjectSpec
from suites.subject_text import SubjectFile
from suites.way import Address

if TYPE_CHECKING:
    from suites.stacks.engine import Engine

_TOGETHER = 4  # projects that are brought up at once: more only queue on two cores
_DOCKER = "the package `docker` is missing; install it: pip install 'retryproof[docker]'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Docker:
    """What brings stacks up here."""

    engine: "Engine"
    composer: Composer
    owner: Owner

    def remove(self, which: Callable[[str], bool]) -> list[str]:
        """Those projects; their names."""
        projects = [name for name in self.engine.projects() if which(name)]
        self.engine.remove(*projects)
        return projects


class StackSubject:
    """A stack that can be brought up, any number of times and several at once: a Subject. logs: the folder that gets
    what the containers of an instance wrote that failed (None: none does).
    """

    def __init__(self, stack: StackFile, supervisor: Supervisor) -> None:
        self.stack = stack
        self.supervisor = supervisor
        self.logs: Path | None = None
        self._spec = stack.file.spec
        self._docker: Docker | None = None
        self._preparing = asyncio.Lock()
        self._places = asyncio.Semaphore(_TOGETHER)

    @property
    def file(self) -> SubjectFile:
        """What its labels say of its forwarder, as a subject file would."""
        return self.stack.file

    @property
    def spec(self) -> SubjectSpec:
        """What its labels say; the version is known once it was prepared."""
        return self._spec

    async def prepare(self, step: Told = lambda _step: None, line: Told = lambda _line: None) -> list[str]:
        """An engine answers, and its images are built; the projects that earlier runs had left are gone, and named.
        Done once. Raises StackError, with what is missing.
        """
        async with self._preparing:
            if self._docker is not None:
                return []
            docker = await on_a_thread(_docker_here)
            left = await on_a_thread(lambda: docker.remove(Owner.is_left))
            step(f"building the images of {self._spec.facts.name}")
            await self._build(docker, line)
            limits = await on_a_thread(docker.engine.changes_limits)
            self._spec = replace(self._spec, version=f"in {docker.engine.kind}", limits=limits)
            self._docker = docker
            return left

    async def require_engine(self) -> None:
        """An engine answers. Raises StackError, with what is missing."""
        docker = await on_a_thread(_docker_here)
        await on_a_thread(docker.engine.close)

    async def close(self) -> None:
        """Nothing of it is left, also of what was being brought up when it was told to end. Raises StackError."""
        if self._docker is not None:
            docker, self._docker = self._docker, None
            await on_a_thread(lambda: docker.remove(docker.owner.owns))
            await on_a_thread(docker.engine.close)

    async def start(self, upstreams: Sequence[Address], options: Sequence[str] = ()) -> StackInstance:
        """An instance that forwards to these addresses and is ready. options: further words of its forwarder's command,
        where its file mentions them. Raises StackError.
        """
        if len(upstreams) != self.spec.upstreams:
            raise ValueError(f"{len(upstreams)} upstreams; expected {self.spec.upstreams} as its labels say")
        await self.prepare()
        assert self._docker is not None
        instance = StackInstance(self.stack, self._docker.engine, self._docker.owner.next_project())
        try:
            async with self._places:
                await instance.launch(self.supervisor, self._docker.composer, upstreams, options)
        except BaseException as error:
            if isinstance(error, StackError):
                error = await self._with_logs(instance, error)
            with suppress(StackError):  # what ends it says more than what comes of cleaning up
                await to_the_end(instance.stop())
            raise error from None
        return instance

    async def _build(self, docker: Docker, line: Told) -> None:
        """Images that a service builds; what needs none is pulled, or here, when it starts."""
        words = docker.composer.build_words(self.stack.path, docker.owner.next_project())
        with tempfile.TemporaryDirectory(prefix="retryproof-") as folder:
            await docker.composer.run(self.supervisor, words, log=Path(folder) / "build.log", env={}, on_line=line)
        await on_a_thread(docker.engine.forget_replaced)

    async def _with_logs(self, instance: StackInstance, error: StackError) -> StackError:
        """The same, with what its containers wrote: all of it in a folder, if there is one, and the last here; and with
        what is known of such an engine.
        """
        assert self._docker is not None
        advice = self._docker.engine.advice
        with suppress(StackError):
            words = await instance.last_words(self.logs)
            return StackError("\n".join((f"{error}{words}", *advice)))
        return error


def join_network_of_stacks() -> None:
    """This process stands on a network of Docker's from now on, and so do the stacks that it brings up; call it before
    any thread is started. Raises StackError, with what is missing, and OSError.
    """
    try:
        from suites.stacks.joining import join  # of the extra `docker`
    except ImportError:
        raise StackError(_DOCKER) from None
    join()


def leave_network_of_stacks() -> None:
    """Before this process ends: nothing of it is left, also of one that was joined half way."""
    if "suites.stacks.joining" in sys.modules:
        from suites.stacks.joining import leave

        leave()


def _docker_here() -> Docker:
    """It. Raises StackError, with what is missing."""
    try:
        from suites.stacks.engine import Engine  # of the extra `docker`
    except ImportError:
        raise StackError(_DOCKER) from None
    composer = Composer.find()
    return Docker(engine=Engine.connect(), composer=composer, owner=Owner.me())
