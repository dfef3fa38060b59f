"""Plans are exact, come back from JSON as they were, and are refused with a clear message where malformed."""

import json

import pytest
from hypothesis import given

from faults.plan import Plan, PlanError, PlannedListener, PlannedOperation
from faults.plan_json import dump_plan, load_plan
from suites.reach import Machine
from suites.run import Promise, SubjectFacts
from suites.strategies import plans
from suites.subject import SubjectSpec

SPEC = SubjectSpec(facts=SubjectFacts(name="any", promises=Promise.TRANSPARENT), upstreams=2)
HEALTHY: dict[str, list[str]] = {"faults": []}


@given(plans(SPEC, Machine(packets=True)))
def test_every_plan_comes_back_from_its_json(plan: Plan) -> None:
    """Writing and reading change nothing."""
    assert load_plan(dump_plan(plan)) == plan


def test_the_json_of_a_plan_is_stable() -> None:
    """What has its default value is left out; the schema never is."""
    plan = Plan(
        upstreams=2,
        operations=(PlannedOperation(faults=("503-no-workers",)),),
        listeners=(PlannedListener(fault="connect-refused", upstream=0),),
    )
    assert json.loads(dump_plan(plan)) == {
        "schema": 1,
        "upstreams": 2,
        "operations": [{"faults": ["503-no-workers"]}],
        "listeners": [{"fault": "connect-refused", "upstream": 0}],
    }


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("nonsense", "no JSON"),
        ([], r"plan is \[\]; expected an object"),
        ({"operations": [HEALTHY]}, "without `schema`"),
        ({"schema": 2, "operations": [HEALTHY]}, "this version reads 1"),
        ({"schema": True, "operations": [HEALTHY]}, "plan.schema is True"),
        ({"schema": 1}, "lacks `operations`"),
        ('{"schema": 1, "schema": 1}', "the key 'schema' stands twice"),
        ({"schema": 1, "operations": []}, "0 operations; expected 1 to 100"),
        ({"schema": 1, "operations": [HEALTHY], "colour": 1}, "has the key 'colour'"),
        ({"schema": 1, "operations": ["x"]}, r"operations\[0\] is 'x'"),
        ({"schema": 1, "operations": [{"faults": "x"}]}, r"operations\[0\].faults is 'x'"),
        ({"schema": 1, "operations": [{"faults": [1]}]}, "holds 1; expected fault ids"),
        ({"schema": 1, "operations": [{"faults": ["reset-befor"]}]}, "nearest: reset-before"),
        ({"schema": 1, "operations": [{"faults": ["syn-dropped"]}]}, "put it under `listeners`"),
        ({"schema": 1, "operations": [{"segments": 3}]}, "segments is 3"),
        ({"schema": 1, "operations": [{"wave": -1}]}, "wave is -1"),
        ({"schema": 1, "operations": [{"reused": 1}]}, "expected true or false"),
        ({"schema": 1, "operations": [{"gate": "received:0"}]}, "another operation's index"),
        ({"schema": 1, "operations": [{"gate": "received:x"}]}, "with N the index"),
        ({"schema": 1, "operations": [{"gate": "received:\u0663"}]}, "with N the index"),
        ({"schema": 1, "operations": [{"gate": f"received:{'9' * 5000}"}]}, "with N the index"),
        ({"schema": 1, "upstreams": 0, "operations": [HEALTHY]}, "upstreams is 0"),
        ({"schema": 1, "operations": [HEALTHY], "listeners": [{}]}, "lacks `fault`"),
        ({"schema": 1, "operations": [HEALTHY], "listeners": [{"fault": "500-after"}]}, "put it under `operations`"),
        (
            {"schema": 1, "operations": [HEALTHY], "listeners": [{"fault": "accept-reset", "upstream": 1}]},
            "upstream 1; expected 0 to 0",
        ),
        (
            {"schema": 1, "operations": [HEALTHY], "listeners": [{"fault": "accept-reset", "connections": 0}]},
            "connections is 0",
        ),
        (
            {"schema": 1, "operations": [HEALTHY], "listeners": [{"fault": "syn-dropped", "connections": 1}]},
            "expected null: until healed",
        ),
        (
            {"schema": 1, "operations": [HEALTHY, HEALTHY], "listeners": [{"fault": "accept-reset"}]},
            "belongs to the only operation in flight",
        ),
        (
            {"schema": 1, "operations": [{"reused": True}], "listeners": [{"fault": "accept-reset"}]},
            "expected reused false",
        ),
        (
            {"schema": 1, "operations": [HEALTHY], "listeners": [{"fault": "queue-never", "connections": 1}]},
            "expected null: until healed",
        ),
        ({"schema": 1, "operations": [HEALTHY], "listeners": [{"fault": "idle-fin"}]}, "expected reused true"),
        ({"schema": 1, "operations": [HEALTHY], "listeners": [{"fault": "expect-fin"}]}, "expected expect true"),
        (
            {"schema": 1, "tls": True, "operations": [HEALTHY], "listeners": [{"fault": "write-stall"}]},
            "it strikes plain TCP alone",
        ),
        ({"schema": 1, "operations": [{"body_bytes": 8_388_609}]}, "body_bytes is 8388609; expected 0"),
        ({"schema": 1, "operations": [{"body_bytes": 9, "segments": 0}]}, "expected 0: a small body"),
        (
            {
                "schema": 1,
                "operations": [HEALTHY],
                "listeners": [{"fault": "accept-reset"}, {"fault": "syn-dropped", "upstream": 0}],
            },
            "two faults on upstream 0",
        ),
        (
            {"schema": 1, "operations": [{"gate": "received:1"}, {"wave": 1}]},
            "waits for a later wave",
        ),
        (
            {"schema": 1, "operations": [{"gate": "received:1"}, {"gate": "received:0"}]},
            "may wait for each other",
        ),
    ],
)
def test_a_malformed_plan_is_refused_by_place_and_value(data: object, message: str) -> None:
    """Every refusal quotes the value and says what was expected."""
    text = data if isinstance(data, str) else json.dumps(data)
    with pytest.raises(PlanError, match=message):
        load_plan(text)


def test_concurrency_is_the_largest_wave() -> None:
    """Waves go one after the other."""
    plan = Plan(operations=(PlannedOperation(), PlannedOperation(wave=1), PlannedOperation(wave=1)))
    assert plan.concurrency == 2
