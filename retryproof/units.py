"""A unit of an examination or a load: what one worker process does. Where it runs is a closed choice (`where.py`)."""

import asyncio
import os
import tempfile
from dataclasses import dataclass, replace
from typing import Protocol

from fake_router import own_network
from retryproof.frames import CallersRequest, Request
from retryproof.pickles import pickled
from retryproof.running import running
from suites.processes import how_ended
from suites.stacks.network import joined


class Unit(Protocol):
    """One that has begun."""

    @property
    def frames(self) -> asyncio.StreamReader:
        """What its worker process hands on, to the end of it."""

    @property
    def node(self) -> str:
        """Which machine it is on, as far as that is known; empty for this one."""

    def tell(self, data: bytes) -> None:
        """What its worker process reads next; one that has ended hears nothing."""

    def stop(self) -> None:
        """Order it to end, in good order. Safe to call twice."""

    def kill(self) -> None:
        """End it, whatever it does."""

    async def ended(self) -> str:
        """How it did, in words, once it has."""


@dataclass(frozen=True, slots=True)
class Here:
    """On this machine, as a child of this process."""

    async def begin(self, request: Request | CallersRequest) -> Unit:
        """A worker process with that request. Raises OSError where this machine starts no more."""
        network = own_network.is_alone() if own_network.is_entered() else None
        process = await asyncio.create_subprocess_exec(
            *running("retryproof.worker:main"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "TMPDIR": tempfile.gettempdir()},  # so that ours is removed with all that is left in it
            start_new_session=True,  # a Ctrl-C at the terminal is its parent's to handle
        )
        assert process.stdin is not None
        if isinstance(request, Request):
            request = replace(request, alone_network=network, joins=joined() is not None)
        process.stdin.write(pickled(request))
        return _Child(process)


@dataclass(frozen=True, slots=True)
class _Child:
    """A worker process of this machine: a Unit."""

    process: asyncio.subprocess.Process
    node: str = ""

    @property
    def frames(self) -> asyncio.StreamReader:
        """Its stdout."""
        assert self.process.stdout is not None
        return self.process.stdout

    def tell(self, data: bytes) -> None:
        """In its stdin."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    def stop(self) -> None:
        """The end of its stdin is its order to end."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def kill(self) -> None:
        """Its reaper ends the subjects."""
        self.process.kill()

    async def ended(self) -> str:
        """By its return code."""
        return how_ended(await self.process.wait())
