"""Service: work that takes time is queued, taken on, held and released on real sockets, and the ledger says when."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from fake_router.control import Control
from fake_router.entries import Accepted, Closed, EndedBy, Executed, Marked, Received, Replied, Striking
from fake_router.exchange import Event
from fake_router.service import INSTANT, MAX_CAPACITY, Engine, Held, Service, service_in, service_text
from fake_router.serving import NothingToReleaseError, Serving
from faults.vocabulary import Sight
from tests.router_client import Client, Stage, one, staged, work
from tests.test_router_control import Api

LONG_S = 3600.0  # a service that does not end within a test


@contextmanager
def _asked(stage: Stage, count: int) -> Iterator[list[Client]]:
    """So many clients, each of which has sent its operation, from 1 on, and been read in that order."""
    with ExitStack() as stack:
        clients = []
        for operation in range(1, count + 1):
            clients.append(stack.enter_context(Client(stage.port)))
            clients[-1].send(work(operation))
            stage.until(Received, operation)
        yield clients


def _operations(stage: Stage, entries: list[Executed] | list[Replied]) -> list[int | None]:
    """The operations that these entries are about, in their order."""
    of = {entry.exchange: entry.operation for entry in stage.of(Received)}
    return [of[entry.exchange] for entry in entries]


def _release(stage: Stage) -> None:
    stage.thread.run(stage.router.release)


@pytest.mark.parametrize("service", [Held(), Held(together=True)], ids=service_text)
def test_what_is_held_is_executed_and_answered_in_order_once_it_is_released(service: Service) -> None:
    with staged(service=service) as stage, _asked(stage, 5) as clients:
        assert (stage.router.held(), stage.router.queued(), stage.router.in_service()) == (5, 0, 0)
        assert len(stage.until(Executed, 5)) == 5
        assert stage.of(Replied) == []
        _release(stage)
        assert [client.see().sight for client in clients] == [Sight.WHOLE] * 5
        assert _operations(stage, stage.of(Replied)) == [1, 2, 3, 4, 5]
        assert [entry.mark for entry in stage.of(Marked)] == ["released"]
        assert clients[0].ask(work(9)).sight is Sight.WHOLE, "what comes later is not held"
        assert stage.router.held() == 0


def test_a_burst_answers_all_before_anything_else_happens_and_held_lets_others_have_their_turn() -> None:
    """A function that is called after the release: under burst it finds all answered, else the first alone."""

    def answered_after_release(stage: Stage) -> int:
        stage.router.release()
        return sum(isinstance(entry, Replied) for entry in stage.router.ledger)

    for service, answered in ((Held(together=True), 4), (Held(), 1)):
        with staged(service=service) as stage, _asked(stage, 4):
            assert stage.thread.run(answered_after_release, stage) == answered
            assert len(stage.until(Replied, 4)) == 4


def _asked_in_one_turn(port: int, count: int, stack: ExitStack) -> list[Client]:
    """On the router's own thread, whose loop finds all of them when it goes on."""
    clients = [stack.enter_context(Client(port)) for _ in range(count)]
    for operation, client in enumerate(clients, start=1):
        client.send(work(operation))
    return clients


def test_an_engine_takes_on_as_many_as_it_has_places_and_the_others_when_a_place_is_free_in_order() -> None:
    with staged(service=Engine(capacity=2, seconds=0.05)) as stage, ExitStack() as stack:
        clients = stage.thread.run(_asked_in_one_turn, stage.port, 6, stack)
        assert [client.see().sight for client in clients] == [Sight.WHOLE] * 6
        assert _operations(stage, stage.of(Executed)) == [entry.operation for entry in stage.of(Received)]
        in_service = most = 0
        for entry in stage.entries():
            in_service += isinstance(entry, Executed) - isinstance(entry, Replied)
            most = max(most, in_service)
        assert most == 2
        assert (stage.router.queued(), stage.router.in_service()) == (0, 0)


def test_what_an_engine_serves_takes_its_time_at_the_least() -> None:
    with staged(service=Engine(capacity=1, seconds=0.05)) as stage, _asked(stage, 2) as clients:
        assert [client.see().sight for client in clients] == [Sight.WHOLE] * 2
        took_ns = [r.at_ns - e.at_ns for e, r in zip(stage.of(Executed), stage.of(Replied), strict=True)]
        assert min(took_ns) >= 49_000_000, "the loop's clock counts milliseconds"


def test_a_peer_that_leaves_the_queue_is_never_accepted_and_one_that_leaves_service_keeps_its_place() -> None:
    """The first is taken out of the queue; the work of the second was taken on, and is in the ledger as done."""
    with staged(service=Engine(capacity=1, seconds=LONG_S)) as stage, _asked(stage, 3) as clients:
        assert (stage.router.in_service(), stage.router.queued()) == (1, 2)
        clients[1].socket.close()
        stage.until(Closed, 1)
        assert stage.router.queued() == 1
        clients[0].socket.close()
        stage.until(Closed, 2)
        assert (stage.router.in_service(), stage.router.queued(), stage.router.busy()) == (1, 1, 1)
        assert _operations(stage, stage.of(Executed)) == [1]
        assert len(stage.of(Accepted)) == 1
        assert {entry.by for entry in stage.of(Closed)} == {EndedBy.PEER}


def test_a_peer_that_leaves_while_it_is_held_is_not_waited_for() -> None:
    with staged(service=Held()) as stage, _asked(stage, 2) as clients:
        clients[0].socket.close()
        stage.until(Closed, 1)
        assert stage.router.held() == 1
        _release(stage)
        assert clients[1].see().sight is Sight.WHOLE
        assert _operations(stage, stage.of(Replied)) == [2]
        assert len(stage.of(Executed)) == 2


def test_a_fault_before_execute_strikes_at_once_and_one_after_it_when_service_is_over() -> None:
    with staged(service=Held()) as stage:
        stage.arm(one("503-before"), first=1)
        stage.arm(one("reset-after"), first=2)
        with Client(stage.port) as refused, Client(stage.port) as broken:
            assert refused.ask(work(1)).status == 503
            broken.send(work(2))
            stage.until(Executed, 1)
            assert [entry.operation for entry in stage.of(Striking)] == [1]
            _release(stage)
            assert broken.ends_by() is Sight.RESET
        assert [entry.operation for entry in stage.of(Striking)] == [1, 2]


def test_healing_releases_nothing_and_a_reset_ends_what_is_held_and_holds_again() -> None:
    with staged(service=Held()) as stage, _asked(stage, 1) as clients:
        stage.heal()
        assert stage.router.held() == 1
        stage.thread.run(stage.router.reset)
        assert clients[0].ends_by() is Sight.FIN
        assert stage.router.held() == 0
        _release(stage)
        stage.thread.run(stage.router.reset)
        with Client(stage.port) as client:
            client.send(work(2))
            stage.until(Executed, 1)
            assert stage.router.held() == 1


def test_a_router_whose_engine_is_at_work_can_be_closed() -> None:
    with staged(service=Engine(capacity=1, seconds=LONG_S)) as stage, _asked(stage, 2) as clients:
        stage.thread.run(stage.thread.close_router, stage.router)
        assert {client.ends_by() for client in clients} == {Sight.FIN}
        assert (stage.router.in_service(), stage.router.queued()) == (0, 0)


@pytest.mark.parametrize("service", [INSTANT, Engine(capacity=1, seconds=0)], ids=service_text)
def test_a_service_that_holds_nothing_cannot_be_released(service: Service) -> None:
    with staged(service=service) as stage:
        with pytest.raises(NothingToReleaseError, match=f"the service is {service_text(service)}; expected held or"):
            _release(stage)
        assert stage.entries() == ()
        with Client(stage.port) as client:
            assert client.ask(work(1)).sight is Sight.WHOLE


def test_the_status_counts_what_is_held_and_a_release_answers_it() -> None:
    with staged(service=Held()) as stage, _asked(stage, 1) as clients:
        control = Control(stage.router)
        stage.thread.run(control.start)
        api = Api(control.port)
        status = json.loads(api.call("GET", "/status")[1])
        assert [status[key] for key in ("held", "in_service", "queued")] == [1, 0, 0]
        api.post("/release", {})
        assert clients[0].see().sight is Sight.WHOLE
        stage.thread.run(control.close)


@pytest.mark.parametrize("text", ["instant", "held", "burst", "engine:2048,5", "engine:1,0.25", "engine:1,0"])
def test_a_service_is_the_text_that_names_it(text: str) -> None:
    assert service_text(service_in(text)) == text


@pytest.mark.parametrize(
    "text",
    ["", "hold", "engine", "engine:1", "engine:0,1", f"engine:{MAX_CAPACITY + 1},1", "engine:1,-1", "engine:1,1e3",
     "engine:1,99999", "engine: 1,1", "burst,1", "engine:1,nan"],
)  # fmt: skip
def test_a_text_that_names_no_service_is_refused_with_what_was_expected(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        service_in(text)


@dataclass
class Timer:
    """What a loop was asked to do later."""

    do: Callable[[], None]
    cancelled: bool = False

    def cancel(self) -> None:
        self.cancelled = True


@dataclass
class Timers:
    """Of a loop what a service uses: its clock stands until a test goes on with it."""

    asked: list[Timer] = field(default_factory=list)

    def call_later(self, _seconds: float, do: Callable[[int], None], exchange: int) -> Timer:
        self.asked.append(Timer(lambda: do(exchange)))
        return self.asked[-1]


def _engine_at_work(loop: Any, told: list[Event]) -> Serving:
    """With one exchange in service, for a minute."""
    serving = Serving(Engine(capacity=1, seconds=60.0))
    serving.begin(loop)
    assert serving.queue(1, told.append) is Event.ADMITTED
    assert serving.serve(1, told.append) is None
    return serving


def test_a_service_that_is_closed_leaves_no_timer_behind() -> None:
    """Its exchange is told nothing any more."""
    loop, told = Timers(), list[Event]()
    serving = _engine_at_work(loop, told)
    serving.close()
    assert ([timer.cancelled for timer in loop.asked], serving.in_service, told) == ([True], 0, [])


def test_an_exchange_that_is_over_has_left_its_place() -> None:
    """And the next one has it."""
    loop, told = Timers(), list[Event]()
    serving = _engine_at_work(loop, told)
    assert serving.queue(2, told.append) is None
    loop.asked[0].do()
    assert (told, serving.in_service, serving.queued) == ([Event.SERVED, Event.ADMITTED], 0, 0)
