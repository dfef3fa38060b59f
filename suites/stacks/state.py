"""What an engine says of a container, and whether that is what was done to it."""

from dataclasses import dataclass
from typing import assert_never

from faults.disturbance import Disturbing


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """pid: of its first process; 0 while it does not run. health: empty where it has no health check. addresses: on
    networks of its own. drops: every packet that comes to it is dropped. shaped: the queueing discipline over what it
    sends. throttled: it had to wait for its limit of CPU, since that was set.
    """

    status: str
    running: bool
    paused: bool = False
    oom_killed: bool = False
    exit_code: int = 0
    pid: int = 0
    id: str = ""
    started_at: str = ""
    health: str = ""
    addresses: tuple[str, ...] = ()
    drops: bool = False
    shaped: str = ""
    throttled: bool = False

    @property
    def is_unwell(self) -> bool:
        """Its health check has not passed yet, or does not pass any more."""
        return self.health in ("starting", "unhealthy")

    def in_words(self) -> str:
        """For a message."""
        return self.status if self.running else f"{self.status} with code {self.exit_code}"


def is_disturbed(how: Disturbing, before: State, now: State) -> bool:
    """That was done to it after `before`, and is so `now`."""
    match how:
        case Disturbing.PAUSE:
            return now.paused and now.started_at == before.started_at
        case Disturbing.KILL | Disturbing.STOP:
            return not now.running and now.started_at == before.started_at
        case Disturbing.MEMORY:
            return not now.running and now.oom_killed
        case Disturbing.RESTART:
            return now.running and now.started_at != before.started_at
        case Disturbing.RECREATE:
            return now.running and now.id != before.id
        case Disturbing.DISCONNECT:
            return now.running and bool(before.addresses) and not now.addresses
        case Disturbing.MOVE:
            return now.running and bool(now.addresses) and not set(now.addresses) & set(before.addresses)
        case Disturbing.LOSE:
            return now.running and now.drops and now.started_at == before.started_at
        case Disturbing.RATE | Disturbing.DELAY:
            return now.running and now.shaped == how.queueing and now.started_at == before.started_at
        case Disturbing.THROTTLE:
            return now.running and now.throttled and now.started_at == before.started_at
        case _:
            assert_never(how)
