"""Processes of ours in a load: how it is told that one of them could not go on."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast

import pytest

from fake_router.service import INSTANT
from suites.load.asked import Callers
from suites.load.crew import CallerError, Crew
from suites.load.order import Order
from suites.load.routers import RouterProcess
from suites.processes import Process, Supervisor
from suites.subject import SubjectError

ORDER = Order(
    index=0,
    processes=1,
    slots=1,
    operations=1,
    callers=Callers.PLAIN,
    instances=[("127.0.0.1", 1)],
    sources=[],
    connecting=1,
    give_up_s=1,
    patience_s=1,
    leave_every=0,
)


class _Ended:
    """A process that has ended by itself."""

    pid = 0

    def __init__(self, how: str) -> None:
        self._how = how

    def died(self) -> str:
        return self._how

    async def stop(self) -> None:
        return


def _starting(how: str, log: bytes) -> Supervisor:
    """What it starts has written that, and ended."""

    class _Starts:
        def start(self, _argv: object, **given: Any) -> Awaitable[Process]:
            Path(given["log"]).write_bytes(log)
            return _started(how)

    return cast(Supervisor, _Starts())


async def _started(how: str) -> Process:
    return cast(Process, _Ended(how))


@pytest.mark.parametrize("how", ["exited with code 0", "exited with code 4", "was killed by SIGKILL"])
async def test_callers_that_have_ended_before_they_were_told_to_could_not_go_on(how: str, tmp_path: Path) -> None:
    """Whatever their exit code is: they would be waited for without an end."""
    crew = Crew([ORDER], tmp_path, _starting(how, b"a\nno port is free\n"))
    await crew.start()
    with pytest.raises(CallerError, match=f"a caller process {how}: no port is free"):
        await crew.ready()
    await crew.stop()


async def test_a_router_that_does_not_come_up_is_said_to_be_the_reason(tmp_path: Path) -> None:
    """With its last words."""
    router = RouterProcess(1, tmp_path / "router", _starting("exited with code 4", b"address already in use"))
    with pytest.raises(SubjectError, match="a router exited with code 4 before it was ready: address already in use"):
        await router.start(INSTANT)
    await router.stop()


@pytest.mark.parametrize("ask", [RouterProcess.status, RouterProcess.release, RouterProcess.heal])
async def test_a_router_that_has_ended_is_said_to_have(
    ask: Callable[[RouterProcess], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the midst of a load: what was asked, how it ended and what it wrote last."""
    router = RouterProcess(1, tmp_path / "router", _starting("was killed by SIGKILL", b"out of memory"))
    monkeypatch.setattr(router, "_is_ready", _yes)
    await router.start(INSTANT)
    with pytest.raises(SubjectError, match=r"a router was killed by SIGKILL, and does not answer .* out of memory"):
        await ask(router)
    await router.stop()


async def _yes() -> bool:
    return True
