"""A server of futures in a stack: its container, and that of its router, can be ended and begun again."""

import msgspec

from faults.disturbance import Disturbing, Whose
from suites.endpoint import Endpoint
from suites.futures.control import Control
from suites.futures.offer import Storage, Store, Terms
from suites.futures.process_host import END_S
from suites.stacks.instance import StackInstance
from suites.stacks.stack import StackSubject
from suites.stacks.state import State
from suites.way import Upstreams


class StackHost:
    """One instance of a stack, through all lives of its forwarder. Not begun yet. Every method raises StackError."""

    def __init__(self, subject: StackSubject, storage: Storage, upstreams: Upstreams) -> None:
        self._subject = subject
        self._storage = storage
        self._upstreams = upstreams
        self._instance: StackInstance | None = None

    @property
    def endpoint(self) -> Endpoint:
        """Where it answers."""
        return Endpoint(address=self._running.address, headers=self._subject.file.headers)

    @property
    def terms(self) -> Terms:
        """What its labels say; its clock is that of its container."""
        return msgspec.structs.replace(self._subject.file.offer.terms, clock=False)

    @property
    def control(self) -> Control | None:
        """None: it has no clock of ours."""
        return None

    async def begin(self, now_ms: int) -> bool:
        """The stack is brought up, or its forwarder's container started again; True: on what it has stored."""
        offer = self._subject.file.offer
        if self._instance is None:
            self._instance = await self._subject.start(self._upstreams, offer.words(self._storage, now_ms))
        else:
            await self._instance.begin_again()
        return self._storage.store is Store.SQLITE and offer.store

    async def end(self, *, killed: bool) -> str:
        """How its forwarder's container has ended; empty where it had not within END_S, and was killed then."""
        state = await self._running.end(killed=killed, within_s=END_S)
        return how_ended(state, killed=killed)

    async def close(self) -> None:
        """Nothing of the stack is left. Safe to call twice."""
        if self._instance is not None:
            await self._instance.stop()

    @property
    def _running(self) -> StackInstance:
        if self._instance is None:
            raise ValueError("a stack that was not brought up; expected `begin` before it")
        return self._instance


class StruckStackHost(StackHost):
    """The same, with a container before its routers that can be struck: a Contained. It says what is in flight."""

    async def in_flight(self) -> int | None:
        """How many it says are in flight; None where it says no number."""
        return await self._running.in_flight()

    async def disturb(self, how: Disturbing, whose: Whose = Whose.ROUTER) -> None:
        """Do it to that container; it is so when this returns."""
        await self._running.disturb(how, whose)

    async def disturbed(self, how: Disturbing) -> bool:
        """The engine says that it was done, and is so."""
        return await self._running.disturbed(how)

    async def calm(self) -> None:
        """Undo it; the container serves again when this returns."""
        await self._running.calm()


def how_ended(state: State, *, killed: bool) -> str:
    """In the words of a supervisor of processes; empty where it did not do so when it was told to."""
    match state.exit_code:
        case 137:  # 128 and SIGKILL
            return "was killed by SIGKILL" if killed else ""
        case 143:  # 128 and SIGTERM
            return "was killed by SIGTERM"
        case code:
            return f"exited with code {code}"
