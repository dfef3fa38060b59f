"""The health check of a container, made here where its engine makes none by itself: Podman leaves that to systemd."""

from typing import TYPE_CHECKING

from suites.stacks.errors import StackError

if TYPE_CHECKING:
    from docker.models.containers import Container

LOOK_S = 1.0  # between two checks: one that is made here gives no event, and Podman keeps a process of each for minutes


def passes(container: "Container") -> bool:
    """Its own test succeeds in it now; also where it has none. Raises StackError for a test of another kind."""
    test = (container.attrs["Config"].get("Healthcheck") or {}).get("Test") or ["NONE"]
    match test:
        case ["NONE"]:
            return True
        case ["CMD", *words]:
            done = container.exec_run(words)
        case ["CMD-SHELL", script]:
            done = container.exec_run(["sh", "-c", script])
        case _:
            raise StackError(f"a health check {test!r}; expected CMD or CMD-SHELL, as in a compose file")
    return bool(done.exit_code == 0)
