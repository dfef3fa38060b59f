"""Faults at a rate: which operation meets which is decided by seed and number alone, on real sockets as in the data."""

import json
from collections import Counter
from typing import Any

import pytest

from fake_router.control import Control
from fake_router.entries import Executed, Received, Striking
from faults.catalogue import CATALOGUE
from faults.mix import Drawing, Mix, mix_from
from faults.plan import PlanError
from faults.truth import speaks_unasked
from faults.vocabulary import Sight
from tests.router_client import READ_TIMEOUT_MS, Client, Stage, dial, one, staged, work
from tests.test_router_control import Api

MIX = Mix(name="m", origin="o", per_1000=500, faults={"503-before": 3, "reset-after": 1})
FIRST = {"503-before": Sight.STATUS, "reset-after": Sight.RESET, None: Sight.WHOLE}


def _arm(stage: Stage, mix: Mix, seed: int = 1) -> tuple[str, ...]:
    return stage.thread.run(stage.router.arm_mix, mix, seed=seed, read_timeout_ms=READ_TIMEOUT_MS)


def test_as_many_operations_meet_each_fault_as_the_mix_says() -> None:
    """Of 40,000 within six standard deviations; another seed decides otherwise, the same one never."""
    drawing = Drawing.of(MIX, 7)
    met = [drawing.fault_of(operation) for operation in range(1, 40_001)]
    counts = Counter(met)
    for fault, share in (("503-before", 0.375), ("reset-after", 0.125), (None, 0.5)):
        assert abs(counts[fault] - 40_000 * share) < 6 * (40_000 * share * (1 - share)) ** 0.5
    again = Drawing.of(Mix(name="n", origin="o", per_1000=500, faults=dict(reversed(MIX.faults.items()))), 7)
    assert [again.fault_of(operation) for operation in range(1, 40_001)] == met
    assert [Drawing.of(MIX, 8).fault_of(operation) for operation in range(1, 100)] != met[:99]


def test_what_an_operation_meets_is_the_same_in_every_version_and_process() -> None:
    drawing = Drawing.of(MIX, 1)
    assert "".join("-" if (f := drawing.fault_of(n)) is None else f[0] for n in range(1, 21)) == "-5--5r--55--55r----r"


def test_a_rate_of_a_thousand_leaves_nobody_out() -> None:
    drawing = Drawing.of(Mix(name="m", origin="o", per_1000=1000, faults={"a": 1, "b": 0.1, "c": 7}), 1)
    assert None not in {drawing.fault_of(operation) for operation in range(1, 1_000)}


def test_the_first_exchange_of_an_operation_meets_its_fault_and_the_next_is_healthy() -> None:
    drawing = Drawing.of(MIX, 1)
    with staged() as stage:
        assert _arm(stage, MIX) == ()
        for operation in range(1, 13):
            assert dial(stage.port, work(operation)).sight is FIRST[drawing.fault_of(operation)]
            assert dial(stage.port, work(operation)).sight is Sight.WHOLE
        assert {entry.operation: entry.fault for entry in stage.of(Striking)} == {
            operation: fault for operation in range(1, 13) if (fault := drawing.fault_of(operation)) is not None
        }


def test_a_plan_that_is_armed_beside_it_has_its_own_operations_and_healing_ends_both() -> None:
    with staged() as stage:
        _arm(stage, Mix(name="m", origin="o", per_1000=1000, faults={"503-before": 1}))
        stage.arm(one("fin-before"), first=2)
        assert [dial(stage.port, work(operation)).sight for operation in (1, 2)] == [Sight.STATUS, Sight.FIN]
        with pytest.raises(PlanError, match="a mix is armed already"):
            _arm(stage, MIX)
        stage.heal()
        assert dial(stage.port, work(3)).sight is Sight.WHOLE
        _arm(stage, MIX)


def test_work_without_a_number_meets_nothing() -> None:
    with staged() as stage, Client(stage.port) as client:
        _arm(stage, Mix(name="m", origin="o", per_1000=1000, faults={"503-before": 1}))
        body = b'{"prompt": "x"}'
        head = b"POST /v1/completions HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n" % len(body)
        assert client.ask(head + body).sight is Sight.WHOLE


def test_a_fault_of_a_listener_is_left_out_and_whoever_draws_it_meets_none() -> None:
    """The others come no more often for it."""
    mix = Mix(name="m", origin="o", per_1000=1000, faults={"connect-refused": 1, "503-before": 1})
    drawing = Drawing.of(mix, 1)
    drawn = [drawing.fault_of(operation) for operation in range(1, 9)]
    assert set(drawn) == {"connect-refused", "503-before"}
    with staged() as stage:
        assert _arm(stage, mix) == ("connect-refused",)
        seen = [dial(stage.port, work(operation)).sight for operation in range(1, 9)]
        assert seen == [Sight.WHOLE if fault == "connect-refused" else Sight.STATUS for fault in drawn]
        assert len(stage.of(Received)) == 8
        assert len(stage.of(Executed)) == drawn.count("connect-refused")


def test_a_fault_that_speaks_unasked_is_left_out() -> None:
    """What it says comes when another operation has asked on its connection, which cannot tell it from an answer."""
    unasked = {id_ for id_, fault in CATALOGUE.items() if speaks_unasked(fault.act)}
    with staged() as stage:
        left_out = _arm(stage, Mix(name="m", origin="o", per_1000=1000, faults=dict.fromkeys(CATALOGUE, 1.0)))
    assert unasked
    assert unasked <= set(left_out)


@pytest.mark.parametrize("tls", [False, True])
def test_every_fault_of_the_catalogue_can_be_in_a_mix_or_is_left_out(tls: bool) -> None:
    mix = Mix(name="m", origin="o", per_1000=1000, faults=dict.fromkeys(CATALOGUE, 1.0))
    with staged(tls=tls) as stage:
        left_out = _arm(stage, mix)
        assert ("reset-after" in left_out, "syn-dropped" in left_out) == (False, True)
        assert ("truncation-before" in left_out) is not tls


def test_a_mix_of_which_nothing_can_strike_is_refused() -> None:
    with staged() as stage:
        with pytest.raises(PlanError, match="none of its faults strikes an exchange"):
            _arm(stage, Mix(name="m", origin="o", per_1000=1, faults={"connect-refused": 1}))
        assert stage.entries() == ()


DATA: dict[str, Any] = {"name": "m", "origin": "o", "per_1000": 1000, "faults": {"503-before": 1, "accept-reset": 1e-9}}


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (
            {"mix": DATA, "seed": 1},
            "with `plan`, `first_operation`, `read_timeout_ms`; or an object",
        ),
        ({"mix": DATA, "seed": True, "read_timeout_ms": 1}, "seed is True; expected a number"),
        ({"mix": DATA, "seed": 1, "read_timeout_ms": 0}, "read_timeout_ms is 0; expected 1 or more"),
        ({"mix": {**DATA, "x": 1}, "seed": 1, "read_timeout_ms": 1}, "mix: 'x' is no key"),
        ({"mix": {**DATA, "per_1000": 0}, "seed": 1, "read_timeout_ms": 1}, "per_1000 is 0; expected a number"),
    ],
)
def test_a_mix_that_is_none_is_refused_over_the_control_api_and_a_right_one_is_armed(
    body: dict[str, Any], says: str
) -> None:
    with staged() as stage:
        control = Control(stage.router)
        stage.thread.run(control.start)
        api = Api(control.port)
        status, answer = api.call("POST", "/arm", body)
        assert status == 400
        assert says in json.loads(answer)["error"]
        told = api.post("/arm", {"mix": DATA, "seed": 1, "read_timeout_ms": 300})
        assert told["left_out"] == ["accept-reset"]
        assert dial(stage.port, work(1)).status == 503
        stage.thread.run(control.close)


def test_a_mix_is_the_same_from_a_file_and_from_json() -> None:
    assert mix_from(json.loads(json.dumps(DATA)), "mix") == Mix(**{**DATA, "per_1000": 1000.0})
