"""Properties of any forwarder, over plans that Hypothesis draws whole before it executes them."""

from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from faults.acts import is_listener_act, needs_stream, needs_tls
from faults.catalogue import CATALOGUE
from faults.coverage import Depth
from faults.plan import Plan, PlannedOperation
from suites.bench import Bench
from suites.drawn_sendings import REFUSED
from suites.reach import unreachable
from suites.strategies import plans

_DRAWN = [
    fault for fault in CATALOGUE.values() if Depth.FULL.holds(fault.coverage.drawn) and not is_listener_act(fault.act)
]


def _settings(examples: int) -> settings:
    """No deadline: sockets are not deterministic in time, and a slow example is not a wrong one."""
    return settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


def test_no_drawn_plan_breaks_a_must(bench: Bench) -> None:
    """Several operations at once, several faults an operation, listeners that break: nothing runs twice, nothing
    is garbage, nothing lies, nothing stays dead.
    """

    @_settings(bench.examples)
    @given(plans(bench.spec, bench.machine).filter(bench.reaches))
    def holds(plan: Plan) -> None:
        bench.holds(plan, "drawn-plans")

    holds()


def test_a_refused_operation_ends_as_well_as_it_can(bench: Bench) -> None:
    """Refused once, and healthy after that: two attempts for those who send again. This is the suite to read the
    speed from: it waits for no time-out.
    """

    @_settings(bench.examples)
    @given(st.integers(0, 1_000_000))
    def holds(number: int) -> None:
        operations = (PlannedOperation(faults=(REFUSED,)),)
        bench.holds(
            Plan(name=f"refused once, {number}", tls=bench.spec.always_tls, operations=operations), "refused-once"
        )

    holds()


def test_what_comes_after_a_safe_refusal_is_judged_like_a_first_attempt(bench: Bench) -> None:
    """A refusal that a contract names may be followed by any fault: two attempts, and no third on unsafe evidence."""

    @_settings(bench.examples)
    @given(st.sampled_from(_after_a_refusal(bench)))
    def holds(plan: Plan) -> None:
        bench.holds(plan, "after-refusal")

    holds()


def _after_a_refusal(bench: Bench) -> list[Plan]:
    """One plan for each fault that this subject can reach; what strikes streams alone is asked for as a stream."""
    made = []
    for fault in _DRAWN:
        operation = replace(bench.spec.plain, faults=(REFUSED, fault.id), stream=needs_stream(fault.act))
        plan = Plan(tls=bench.spec.always_tls or needs_tls(fault.act), operations=(operation,))
        if unreachable(plan, bench.spec, bench.machine) is None:
            made.append(plan)
    return made


def test_operations_in_company_get_their_own_results(bench: Bench) -> None:
    """Each of several operations that are refused once, in whatever interleaving, holds its own result."""

    @_settings(bench.examples)
    @given(st.lists(st.sampled_from([(), (REFUSED,)]), min_size=2, max_size=6), st.booleans())
    def holds(faults: list[tuple[str, ...]], reused: bool) -> None:
        last = len(faults) - 1
        operations = tuple(
            PlannedOperation(faults=one, reused=reused, gate=f"received:{last}" if index < last else None)
            for index, one in enumerate(faults)
        )
        bench.holds(Plan(tls=bench.spec.always_tls, operations=operations), "company")

    holds()
