"""What the package needs for Toxiproxy need not be installed, and what nobody can set is not armed."""

import pytest

from faults.driven import refuse_undriven
from faults.plan import Plan, PlanError, PlannedListener, PlannedOperation
from faults.toxics import Latency
from faults.under import Overlay
from retryproof.__main__ import run
from retryproof.exits import Exit
from suites.toxiproxy import source


def test_without_its_client_the_command_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anything of it is imported."""
    monkeypatch.setattr(source, "find_spec", lambda _: None)
    assert run(["check", "--under", "latency=20", "--depth", "core"]) is Exit.COULD_NOT_RUN
    assert "pip install 'retryproof[toxiproxy]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "plan",
    [
        Plan(operations=(PlannedOperation(),), listeners=(PlannedListener(fault="down-executed"),)),
        Plan(operations=(PlannedOperation(),), under=(Overlay(toxic=Latency(latency_ms=5)),)),
    ],
)
def test_a_router_alone_takes_no_plan_under_toxiproxy(plan: Plan) -> None:
    """It would hold what nobody lets go."""
    with pytest.raises(PlanError, match="nobody here sets a toxic"):
        refuse_undriven(plan)
