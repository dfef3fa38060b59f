"""What the marker `fake_router` may say, value by value; what cannot be is quoted, with what was expected."""

from typing import Any

import pytest

from faults.plan import Plan, PlannedOperation
from suites.marked import Marked

PLAN = Plan(operations=(PlannedOperation(),))


def test_what_is_said_is_what_is_marked() -> None:
    """All of it, or nothing."""
    assert Marked.of([]) == Marked()
    said = {"plan": PLAN, "upstreams": 16, "tls": True, "read_timeout_ms": 1, "may_not_strike": True}
    assert Marked.of([said]) == Marked(
        plan=PLAN, upstreams=16, tls=True, read_timeout_ms=1, may_not_strike=True, faults=()
    )


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ([{"faults": "503-after"}], "faults is '503-after'; expected a list of fault ids"),
        ([{"faults": [503]}], "faults is [503]; expected a list"),
        ([{"faults": None}], "faults is None; expected a list"),
        ([{"faults": ["503-after"], "plan": PLAN}], "faults ['503-after'] beside a plan; expected one"),
        ([{"plan": "plan.json"}], "plan is 'plan.json'; expected a Plan (`faults.plan_json.load_plan("),
        ([{"plan": {"operations": []}}], "plan is {'operations': []}; expected a Plan"),
        ([{"upstreams": "2"}], "upstreams is '2'; expected a whole number from 1 to 16"),
        ([{"upstreams": 2.5}], "upstreams is 2.5; expected a whole number"),
        ([{"upstreams": 0}], "upstreams is 0; expected a whole number"),
        ([{"upstreams": 17}], "upstreams is 17; expected a whole number"),
        ([{"upstreams": True}], "upstreams is True; expected a whole number"),
        ([{"read_timeout_ms": -5}], "read_timeout_ms is -5; expected a whole number from 1 to 3600000"),
        ([{"read_timeout_ms": 0}], "read_timeout_ms is 0; expected"),
        ([{"read_timeout_ms": 10**400}], "; expected a whole number"),
        ([{"tls": 1}], "tls is 1; expected True or False"),
        ([{"may_not_strike": "no"}], "may_not_strike is 'no'; expected True or False"),
        ([{"upstream": 2}], "has no 'upstream'; expected some of faults, plan, upstreams, "),
        ([{"upstream": 2}], "did you mean 'upstreams'?"),
        ([{"frobnicate": 2}], "has no 'frobnicate'; expected some of"),
        ([{"tls": True}, {"faults": ["x"]}], "two markers fake_router on one test, fake_router(tls=True) and fake_ro"),
    ],
)
def test_what_cannot_be_is_refused(said: list[dict[str, Any]], message: str) -> None:
    """By one ValueError."""
    with pytest.raises(ValueError, match="expected") as raised:
        Marked.of(said)
    assert message in str(raised.value)
