"""Probes that meet the faults of a listener: they are in the ledger as probes, and their strikes name no operation."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from fake_router.entries import Closed, Opened, Probed, Received, Striking, Struck, Unserved
from faults.plan import Plan
from faults.vocabulary import Sight
from suites.accounts import accounts_of
from suites.findings import Verdict
from suites.judge import judge
from suites.run import Run
from tests import ledgers
from tests.router_client import Client, Stage, dial, faulty, request, staged, work

LOOK = b"GET /health HTTP/1.1\r\nHost: h\r\n\r\n"
LOOKS = (LOOK, b"OPTIONS / HTTP/1.0\r\n\r\n", request(b"", target="/health"))


@pytest.fixture
def stage() -> Iterator[Stage]:
    with staged(upstreams=2) as stage:
        yield stage


def lived(stage: Stage, plan: Plan) -> Run:
    """The run of operation 1 that this ledger tells of."""
    return replace(ledgers.run(plan, ()), operations=(1,), fresh=(), ledger=stage.entries(), history=())


def is_vacuous(run: Run) -> bool:
    return any(f.check == "vacuity" and f.verdict is Verdict.UNKNOWN for f in judge(run).findings)


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("fault", ["unread-reset", "unread-never"])
def test_a_probe_that_meets_the_fault_is_no_sending_of_the_operation(stage: Stage, fault: str, look: bytes) -> None:
    """The strike has struck, and names no operation; the plan's own fault has not struck."""
    plan = faulty(fault, upstream=0, upstreams=2)
    stage.arm(plan)
    with Client(stage.port) as prober:
        prober.send(look)
        stage.until(Struck, 1)
        if fault == "unread-reset":
            assert prober.see().sight is Sight.RESET
        assert dial(stage.router.ports[1], work(1)).sight is Sight.WHOLE
        stage.heal()
        stage.drain()
    (striking,), (struck,), (probed,) = stage.of(Striking), stage.of(Struck), stage.of(Probed)
    assert (striking.operation, struck.striking) == (None, striking.seq)
    assert (probed.connection, probed.status) == (striking.connection, 0)
    assert stage.of(Unserved) == []
    run = lived(stage, plan)
    assert [attempt.upstream for attempt in accounts_of(run).planned[0].attempts] == [1]
    assert is_vacuous(run)


@pytest.mark.parametrize("fault", ["unread-reset", "unread-never"])
def test_an_operation_that_is_sent_once_beside_probes_is_one_attempt(stage: Stage, fault: str) -> None:
    """A probe before it and one after it change nothing."""
    plan = faulty(fault, upstream=0, upstreams=2)
    stage.arm(plan)
    with Client(stage.port) as before, Client(stage.port) as sender, Client(stage.port) as after:
        for number, (client, data) in enumerate(((before, LOOK), (sender, work(1)), (after, LOOK)), start=1):
            client.send(data)
            stage.until(Struck, number)
        stage.heal()
        stage.drain()
    assert [entry.operation for entry in stage.of(Striking)] == [None, 1, None]
    assert [entry.operation for entry in stage.of(Unserved)] == [1]
    run = lived(stage, plan)
    (attempt,) = accounts_of(run).planned[0].attempts
    assert (attempt.fault, attempt.struck, attempt.unserved is not None) == (fault, True, True)
    assert not is_vacuous(run)


def test_a_probe_that_is_answered_late_is_no_open_work(stage: Stage) -> None:
    """It is in the ledger when it comes and when it is answered, and no run waits for it."""
    plan = faulty("unread-late", upstream=0, upstreams=2)
    stage.arm(plan)
    with Client(stage.port) as prober:
        prober.send(LOOK)
        stage.until(Struck, 1)
        assert stage.router.busy() == 0
        assert prober.see().status == 200
        assert prober.ask(work(1)).sight is Sight.WHOLE
    assert stage.idle()
    assert [entry.status for entry in stage.of(Probed)] == [0, 200]
    (attempt,) = accounts_of(lived(stage, plan)).planned[0].attempts
    assert (attempt.fault, attempt.executed is not None) == (None, True)
    assert stage.router.busy() == 0


def test_an_operation_at_a_wrong_target_is_still_a_sending(stage: Stage) -> None:
    """Its content names it."""
    stage.arm(faulty("unread-reset", upstream=0, upstreams=2))
    body = work(1).partition(b"\r\n\r\n")[2]
    assert dial(stage.port, request(body, target="/health")).sight is Sight.RESET
    assert [entry.operation for entry in stage.of(Unserved)] == [1]
    assert stage.of(Probed) == []


def test_a_probe_that_crosses_the_end_of_its_idle_connection_is_a_probe(stage: Stage) -> None:
    with Client(stage.port) as prober:
        assert prober.ask(work(9)).sight is Sight.WHOLE
        stage.thread.run(stage.router.drop_idle)
        assert prober.ends_by() is Sight.FIN
        prober.send(LOOK)
        (probed,) = stage.until(Probed, 1)
    assert (probed.status, stage.of(Unserved)) == (0, [])


def test_a_probe_that_is_found_when_draining_is_a_probe(stage: Stage) -> None:
    """Its bytes came in the same turn of the loop."""
    stage.arm(faulty("unread-never", upstream=0, upstreams=2))
    with Client(stage.port) as prober:
        stage.until(Opened, 1)

        def sends_and_drains() -> None:
            prober.send(LOOK)
            stage.router.drain()

        stage.thread.run(sends_and_drains)
    assert [entry.status for entry in stage.of(Probed)] == [0]
    assert (stage.of(Striking), stage.of(Unserved)) == ([], [])


def test_a_sending_that_is_found_when_draining_has_a_strike_that_is_not_closed(stage: Stage) -> None:
    """Nobody saw that it met the fault while there was one: the run proves nothing."""
    plan = faulty("unread-never", upstream=0, upstreams=2)
    stage.arm(plan)
    with Client(stage.port) as sender:
        stage.until(Opened, 1)

        def sends_and_drains() -> None:
            sender.send(work(1))
            stage.router.drain()

        stage.thread.run(sends_and_drains)
    assert [entry.operation for entry in stage.of(Striking)] == [1]
    assert [entry.operation for entry in stage.of(Unserved)] == [1]
    assert stage.of(Struck) == []
    assert is_vacuous(lived(stage, plan))


@pytest.mark.parametrize("fault", ["unread-reset", "unread-never", "unread-late"])
def test_a_connection_that_brings_no_byte_is_no_attempt(stage: Stage, fault: str) -> None:
    """As the TCP checks of proxies do: it meets nothing, whoever ends it."""
    plan = faulty(fault, upstream=0, upstreams=2)
    stage.arm(plan)
    with Client(stage.port):
        stage.until(Opened, 1)
    stage.until(Closed, 1)
    assert (stage.of(Striking), stage.of(Received)) == ([], [])
    assert accounts_of(lived(stage, plan)).planned[0].attempts == ()


@pytest.mark.parametrize("fault", [None, "unread-reset"])
def test_a_path_of_a_subjects_own_is_a_probe_where_it_is_named(fault: str | None) -> None:
    """Answered like the usual ones, and no sending when it meets a fault; elsewhere nobody serves it."""
    for probes, status in (((), 404), (("/ready", "/live"), 200)):
        with staged(probes=probes) as stage:
            if fault is None:
                assert dial(stage.port, request(b"", target="/live", method="GET")).status == status
                continue
            stage.arm(faulty(fault))
            assert dial(stage.port, request(b"", target="/live")).sight is Sight.RESET
            assert bool(stage.of(Unserved)) == (status == 404)
            assert bool(stage.of(Probed)) == (status == 200)


def test_a_usual_path_stays_what_it_is() -> None:
    """Whatever else is named."""
    with staged(probes=("/v1/completions", "/health")) as stage:
        assert dial(stage.port, work(1)).sight is Sight.WHOLE
        assert [entry.operation for entry in stage.of(Received)] == [1]
        assert b"ok" in dial(stage.port, LOOK).body


def test_a_probe_is_answered_as_the_subject_file_says() -> None:
    """Also one of the usual ones; the others stay what they are."""
    with staged(probes={"/v1/models": {"data": []}, "/get_server_info": {"dp_size": 1}}) as stage:
        answers = [
            dial(stage.port, request(b"", target=path, method="GET")) for path in ("/v1/models", "/get_server_info")
        ]
        assert [(answer.status, answer.body) for answer in answers] == [(200, b'{"data":[]}'), (200, b'{"dp_size":1}')]
        assert b"ok" in dial(stage.port, LOOK).body
