"""What a script does to the container between a server of futures and its routers: done, witnessed, undone."""

from faults.disturbance import Disturbing
from suites.futures.control import ControlError
from suites.futures.gates import Gates
from suites.futures.host import Contained, Host
from suites.futures.notes import Notes
from suites.futures.record import Calmed, Disturbed


class Disturbances:
    """Those of one script. Every method raises SubjectError where an engine fails, and ControlError where there is no
    such container.
    """

    def __init__(self, host: Host, gates: Gates, notes: Notes) -> None:
        self._host = host
        self._gates = gates
        self._notes = notes

    async def begin(self, how: Disturbing, *, briefly: bool) -> None:
        """It is done when this returns. briefly: it is over before the server has given up what is in flight."""
        held = set() if briefly else self._gates.held()
        await self._contained.disturb(how)
        await self._gates.note(f"container: {how}")
        self._notes.saw(Disturbed, how=how)
        self._notes.cut |= held

    async def end(self) -> None:
        """It is undone, and its container serves again."""
        how = self._notes.lives.disturbing
        assert how is not None, "a script has seen to that"
        seen = await self._contained.disturbed(how)
        await self._contained.calm()
        await self._gates.note("container healthy again")
        self._notes.saw(Calmed, how=how, seen=seen)

    @property
    def _contained(self) -> Contained:
        if not isinstance(self._host, Contained):
            raise ControlError("a server with no container before its routers; expected a stack that has one")
        return self._host
