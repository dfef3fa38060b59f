"""The router as a script uses it: every operation is held, once received, until it is let go."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from fake_router.entries import AnyEntry, Closed, Received
from fake_router.server import Router
from fake_router.thread import RouterThread
from faults.plan import Plan, PlannedOperation

T = TypeVar("T")


@dataclass(slots=True)
class Gates:
    """The operations of one script at a router, whose ledger begins with them."""

    router: Router
    routers: RouterThread
    read_timeout_ms: int
    received: set[int] = field(default_factory=set)  # all that has come by the last look
    _closed: set[int] = field(default_factory=set)
    _at: dict[int, int] = field(default_factory=dict)  # operation -> the connection on which it waits
    _read: int = 0

    @staticmethod
    async def fresh(router: Router, routers: RouterThread, read_timeout_ms: int) -> "Gates":
        """A router of which nothing is left of earlier scripts."""
        await routers.call(router.reset)
        return Gates(router, routers, read_timeout_ms)

    async def hold(self, number: int, faults: tuple[str, ...]) -> None:
        """What carries that number is held once it is received, and meets these faults then."""
        plan = Plan(operations=(PlannedOperation(faults=faults, gate=_gate(number)),))
        self._closed.add(number)
        await self.on_router(
            lambda router: router.arm(plan, first_operation=number, read_timeout_ms=self.read_timeout_ms)
        )

    async def open(self, number: int) -> None:
        """It is let go."""
        self._closed.discard(number)
        await self.on_router(lambda router: router.open_gate(_gate(number)))

    async def heal(self) -> None:
        """All are let go, and nothing strikes any more."""
        self._closed.clear()
        await self.on_router(lambda router: router.heal())

    async def note(self, mark: str) -> None:
        """A point in the script's life, for the ledger."""
        await self.on_router(lambda router: router.note(mark))

    def held(self) -> set[int]:
        """The operations that wait at their gates, by their numbers."""
        for entry in self.router.ledger.since(self._read):  # appending is atomic: another thread may read
            self._read = entry.seq
            match entry:
                case Received(operation=int() as operation, of_operation=1):
                    self.received.add(operation)
                    self._at[operation] = entry.connection
                case Closed():
                    self._at = {number: at for number, at in self._at.items() if at != entry.connection}
                case _:
                    pass
        return {number for number in self._at if number in self._closed}

    async def busy(self) -> int:
        """How many exchanges that carry an operation are open."""
        return await self.on_router(lambda router: router.busy())

    def entries(self) -> tuple[AnyEntry, ...]:
        """The ledger so far."""
        return self.router.ledger.since()

    async def on_router(self, act: Callable[[Router], T]) -> T:
        """Do something with the router, on its own thread."""
        return await self.routers.call(act, self.router)


def _gate(number: int) -> str:
    return f"lands:{number}"
