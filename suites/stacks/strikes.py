"""What is done to the containers of one instance, one thing at a time, and what its engine says of it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from faults.disturbance import Disturbing, Whose
from suites.side_thread import on_a_thread
from suites.stacks.state import State, is_disturbed

if TYPE_CHECKING:
    from suites.stacks.container import Contained


@dataclass(frozen=True, slots=True, kw_only=True)
class _Struck:
    """Something is done to containers. before: how each was until then."""

    whose: Whose
    containers: Sequence["Contained"]
    before: Sequence[State]


class Strikes:
    """Those of one instance. containers: by whose they are. Every method raises StackError where the engine fails."""

    def __init__(self) -> None:
        self.containers: dict[Whose, Sequence[Contained]] = {}
        self._struck: _Struck | None = None

    @property
    def forwarder(self) -> "Contained | None":
        """The container of the one that is called; None before there is any."""
        return next(iter(self.containers.get(Whose.FORWARDER, ())), None)

    @property
    def ends_forwarder(self) -> bool:
        """Something is done to it, so that nobody may wonder how it ended."""
        return self._struck is not None and self._struck.whose is Whose.FORWARDER

    async def begin(self, how: Disturbing, whose: Whose) -> int:
        """Do that; it is so when this returns. Since when, at the latest (machine's monotonic clock, ns). Raises
        ValueError where there is no such container.
        """
        if whose not in self.containers:
            raise ValueError(f"the container of the {whose} was to be struck; expected `retryproof.role: {whose}`")
        containers = self.containers[whose]
        before = await asyncio.gather(*(on_a_thread(each.state) for each in containers))
        self._struck = _Struck(whose=whose, containers=containers, before=before)
        return max(await asyncio.gather(*(on_a_thread(partial(each.disturb, how)) for each in containers)))

    async def lasts(self, how: Disturbing) -> bool:
        """The engine says that it was done, and is so."""
        struck = self._struck
        if struck is None:
            return False
        now = await asyncio.gather(*(on_a_thread(each.state) for each in struck.containers))
        return all(is_disturbed(how, before, after) for before, after in zip(struck.before, now, strict=True))

    async def end(self) -> None:
        """It is undone; what was struck is still known until `over`."""
        if self._struck is not None:
            await asyncio.gather(*(on_a_thread(each.calm) for each in self._struck.containers))

    def over(self) -> None:
        """All is well again: how a container ends is its own affair from now on."""
        self._struck = None
