"""What is done to the containers of one instance, one thing at a time, and what its engine says of it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from faults.disturbance import Disturbing, Whose
from suites.side_thread import on_a_thread
from suites.stacks.state import State, is_disturbed

if TYPE_CHECKING:
    from suites.stacks.container import Contained


@dataclass(frozen=True, slots=True, kw_only=True)
class _Struck:
    """Something is done to a container. before: how it was until then."""

    whose: Whose
    container: "Contained"
    before: State


class Strikes:
    """Those of one instance. containers: by whose they are. Every method raises StackError where the engine fails."""

    def __init__(self) -> None:
        self.containers: dict[Whose, Contained] = {}
        self._struck: _Struck | None = None

    @property
    def forwarder(self) -> "Contained | None":
        """The container of the one that is called; None before there is any."""
        return self.containers.get(Whose.FORWARDER)

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
        container = self.containers[whose]
        self._struck = _Struck(whose=whose, container=container, before=await on_a_thread(container.state))
        return await on_a_thread(lambda: container.disturb(how))

    async def lasts(self, how: Disturbing) -> bool:
        """The engine says that it was done, and is so."""
        struck = self._struck
        return struck is not None and is_disturbed(how, struck.before, await on_a_thread(struck.container.state))

    async def end(self) -> None:
        """It is undone; what was struck is still known until `over`."""
        if self._struck is not None:
            await on_a_thread(self._struck.container.calm)

    def over(self) -> None:
        """All is well again: how a container ends is its own affair from now on."""
        self._struck = None
