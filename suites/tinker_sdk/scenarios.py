"""What the SDK is led through, each in the order in which it happens to people."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from faults.acts import End
from faults.answer import Answer
from faults.catalogue import CATALOGUE
from faults.toxics import LONGEST_MS, Direction, Down, LimitData, ResetPeer, SlowClose, Timeout, Toxic
from faults.vocabulary import Content, Ending, Side
from suites.futures.offer import Store
from suites.tinker_sdk.judging import Expect
from suites.tinker_sdk.scene import Scene

UP, DOWN = Direction.UPSTREAM, Direction.DOWNSTREAM
_RESET = End(side=Side.AFTER, ending=Ending.RESET)
_LOST = next(fault.id for fault in CATALOGUE.values() if fault.act == _RESET)  # the work is done, and no answer comes
_BUSY = Answer(side=Side.BEFORE, status=503, content=Content.NO_WORKERS)
_NOT_ACCEPTED = next(fault.id for fault in CATALOGUE.values() if fault.act == _BUSY)
_MANY = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One of them. through: a Toxiproxy between the SDK and the server; clock: the server's time is the test's;
    store: what has to outlive its process. contract: the subject's router publishes what it does not accept. strikes:
    how many faults must have struck at the router.
    """

    name: str
    play: Callable[[Scene], Awaitable[object]]
    through: bool = False
    clock: bool = False
    store: Store = Store.MEMORY
    contract: bool = False
    strikes: int = 0
    expects: Expect = Expect.RESULT


async def _everything(scene: Scene) -> None:
    """Two samples, a stop, and all that can be asked of a prompt; then the prompt alone."""
    await scene.sample(num_samples=2, stop=(13,), prompt_logprobs=True, topk=2)
    await scene.compute()


async def _many(scene: Scene) -> None:
    """They land in another order than that in which they were asked for: each gets its own."""
    calls = [await scene.sample(held=True) for _ in range(_MANY)]
    for call in calls:
        await scene.received(call)
    await scene.landed(*reversed(calls))


async def _try_again(scene: Scene) -> None:
    """Its polls are held to the end twice (408), on which the SDK polls again at once."""
    call = await scene.sample(held=True)
    for _ in range(2):
        await scene.polled()
        await scene.advance(scene.terms.hold_ms)
    await scene.polled()
    await scene.landed(call)


async def _submit_lost(toxics: tuple[Toxic, ...], scene: Scene) -> None:
    """The reply to its submit is lost, and the result has landed when it comes again."""
    await scene.lay(toxics[0])
    await scene.received(await scene.sample())
    for toxic in toxics[1:]:
        await scene.lay(toxic)
    await scene.lift(lost=DOWN)


async def _submit_lost_in_flight(scene: Scene) -> None:
    """The same while the router works on it; it lands when a poll waits for what the second submit named."""
    await scene.lay(ResetPeer(direction=DOWN))
    call = await scene.sample(held=True)
    await scene.received(call)
    await scene.lift(lost=DOWN)
    await scene.polled()
    await scene.landed(call)


async def _submit_cut(scene: Scene) -> None:
    """Its submit is lost on its way to the server, which never hears of it."""
    await scene.lay(ResetPeer(direction=UP))
    await scene.sample()
    await scene.lift(lost=UP)


async def _submit_lost_then_killed(scene: Scene) -> None:
    """The reply to its submit is lost, and the server is another process when it comes again."""
    await scene.lay(ResetPeer(direction=DOWN))
    call = await scene.sample(held=True)
    await scene.received(call)
    await scene.landed(call)
    await scene.restart(killed=True)
    await scene.lift(lost=DOWN)


async def _poll_cut(toxic: Toxic, scene: Scene) -> None:
    """Its poll is cut while it is held, and so is every other until the result has long landed with nobody there."""
    call = await scene.sample(held=True)
    await scene.polled()
    await scene.lay(toxic)
    await scene.left()
    await scene.landed(call)
    await scene.advance(scene.terms.retrieved_ms + 1)
    await scene.lift()


async def _poll_reset(scene: Scene) -> None:
    """It polls again after a 408, and that poll is reset on its way to the server."""
    call = await scene.sample(held=True)
    await scene.polled()
    await scene.lay(ResetPeer(direction=UP))
    await scene.advance(scene.terms.hold_ms)
    await scene.left()
    await scene.landed(call)
    await scene.advance(scene.terms.retrieved_ms + 1)
    await scene.lift(lost=UP)


async def _result_lost(toxics: tuple[Toxic, ...], scene: Scene) -> None:
    """The result lands, and is lost on its way to the poll that waits for it; it stays for the retrieved TTL."""
    call = await scene.sample(held=True)
    await scene.polled()
    await scene.lay(toxics[0])
    await scene.landed(call)
    for toxic in toxics[1:]:
        await scene.lay(toxic)
    await scene.advance(scene.terms.retrieved_ms - 1)
    await scene.lift(lost=DOWN)


async def _overlapping(scene: Scene) -> None:
    """Its poll is cut on its own side alone, so that the server holds that and the next at once."""
    call = await scene.sample(held=True)
    await scene.polled()
    await scene.lay(SlowClose(direction=UP, delay_ms=LONGEST_MS))
    await scene.lay(Timeout(direction=DOWN, timeout_ms=1))
    await scene.lift(leaving=1)
    await scene.polled(2)
    await scene.landed(call)


async def _restarted(killed: bool, scene: Scene) -> None:
    """The result lands with nobody there, and the server is another process when the SDK comes back."""
    call = await scene.sample(held=True)
    await scene.polled()
    await scene.lay(Down())
    await scene.left()
    await scene.landed(call)
    await scene.restart(killed=killed)
    await scene.lift()


async def _killed_in_flight(scene: Scene) -> None:
    """The server is killed while the router works on it."""
    await scene.sample(held=True)
    await scene.polled()
    await scene.restart(killed=True)


async def _failing(fault: str, scene: Scene) -> None:
    """The first sending meets that fault at the router."""
    await scene.received(await scene.sample(fault=fault))


async def _plain(scene: Scene) -> None:
    """One call."""
    await scene.sample()


_SWALLOWED = (Timeout(direction=DOWN, timeout_ms=0), Down())  # nobody notices at first; then the connection ends
_BY_TOXIC: tuple[tuple[str, tuple[Toxic, ...]], ...] = (
    ("reset_peer", (ResetPeer(direction=DOWN),)),
    ("limit_data", (LimitData(direction=DOWN, limit_bytes=40),)),
    ("timeout, then down", _SWALLOWED),
)
_CUTS: tuple[tuple[str, Toxic], ...] = (("timeout", Timeout(direction=UP, timeout_ms=1)), ("down", Down()))

SCENARIOS: tuple[Scenario, ...] = (
    Scenario(name="sample", play=_plain),
    Scenario(name="everything that can be asked", play=_everything),
    Scenario(name="many at once", play=_many, clock=True),
    Scenario(name="polls meet 408", play=_try_again, clock=True),
    *(
        Scenario(name=f"submit reply lost by {name}", play=partial(_submit_lost, toxics), through=True)
        for name, toxics in _BY_TOXIC
    ),
    Scenario(name="submit lost", play=_submit_cut, through=True),
    Scenario(name="submit reply lost in flight", play=_submit_lost_in_flight, through=True, clock=True),
    *(
        Scenario(name=f"poll cut by {name}", play=partial(_poll_cut, toxic), through=True, clock=True)
        for name, toxic in _CUTS
    ),
    Scenario(name="poll cut by reset_peer", play=_poll_reset, through=True, clock=True),
    *(
        Scenario(name=f"result lost by {name}", play=partial(_result_lost, toxics), through=True, clock=True)
        for name, toxics in _BY_TOXIC
    ),
    Scenario(name="two polls at once", play=_overlapping, through=True, clock=True),
    Scenario(
        name="submit reply lost, then killed",
        play=_submit_lost_then_killed,
        through=True,
        clock=True,
        store=Store.SQLITE,
    ),
    Scenario(
        name="landed, then terminated",
        play=partial(_restarted, False),
        through=True,
        clock=True,
        store=Store.SQLITE,
    ),
    Scenario(name="landed, then killed", play=partial(_restarted, True), through=True, clock=True, store=Store.SQLITE),
    Scenario(name="killed in flight", play=_killed_in_flight, clock=True, store=Store.SQLITE, expects=Expect.FAILURE),
    Scenario(
        name="router not accepting",
        play=partial(_failing, _NOT_ACCEPTED),
        contract=True,
        strikes=1,
        expects=Expect.EITHER,
    ),
    Scenario(name="router resets after the work", play=partial(_failing, _LOST), strikes=1, expects=Expect.FAILURE),
)
