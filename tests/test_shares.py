"""Which lane works on what: as few instances as pay, and nothing left over."""

import pytest

from faults.plan import Plan, PlannedListener, PlannedOperation
from suites.shares import FEW, WORTH_STARTING, Shares
from suites.way import PLAIN, Way

TLS = Way(tls=True)


def _plans(plain: int, tls: int) -> list[Plan]:
    one = (PlannedOperation(),)
    return [Plan(operations=one)] * plain + [Plan(operations=one, tls=True)] * tls


def test_first_each_way_has_a_lane_and_then_the_longest_gets_more() -> None:
    """The shortest first: a lane that is alone on it works through it one after the other."""
    shares = Shares.of(_plans(8 * WORTH_STARTING, 2 * WORTH_STARTING))
    assert [shares.enter() for _ in range(5)] == [TLS, PLAIN, PLAIN, PLAIN, PLAIN]


def test_a_lane_that_would_have_too_few_is_not_entered() -> None:
    """One more instance would take longer to start than it saves."""
    shares = Shares.of(_plans(2 * WORTH_STARTING - 1, 1))
    assert [shares.enter() for _ in range(3)] == [TLS, PLAIN, None]


@pytest.mark.parametrize(
    ("start_s", "run_s", "lanes"),
    [(0.1, 1.0, WORTH_STARTING), (1.0, 1.0, 5), (9.0, 1.0, 2)],
    ids=["at once", "as long as a run", "slowly"],
)
def test_the_sooner_an_instance_starts_the_fewer_runs_it_is_worth_starting_for(
    start_s: float, run_s: float, lanes: int
) -> None:
    """Of one way: the first lane starts in any case."""
    shares = Shares.of(_plans(2 * WORTH_STARTING, 0))
    assert shares.enter() == PLAIN
    shares.started(start_s, run_s)
    assert 1 + sum(shares.enter() is not None for _ in range(2 * WORTH_STARTING)) == lanes


@pytest.mark.parametrize(("start_s", "lanes"), [(1.0, 5 * FEW), (10.0, FEW)], ids=["quickly", "slowly"])
def test_beyond_a_few_lanes_an_instance_that_starts_slowly_needs_more_runs(start_s: float, lanes: int) -> None:
    """Each of them takes CPU time that those lack which run already."""
    shares = Shares.of(_plans(2 * WORTH_STARTING * FEW, 0))
    assert shares.enter() == PLAIN
    shares.started(start_s, 1.0)
    assert 1 + sum(shares.enter() is not None for _ in range(100)) == lanes


@pytest.mark.parametrize("died_after", [1, 3, 100])
def test_every_plan_is_taken_once_however_often_an_instance_dies(died_after: int) -> None:
    """Who left a way because its instance died may come back to it, however few are left."""
    plans = _plans(5, 2)
    shares = Shares.of(plans)
    taken: list[int] = []
    while (way := shares.enter()) is not None:
        for _ in range(died_after):
            if (place := shares.take(way)) is not None:
                assert plans[place].tls == way.tls
                taken.append(place)
        shares.leave(way)
    assert sorted(taken) == list(range(len(plans)))


def test_a_listeners_fault_can_ask_for_a_way_of_its_own() -> None:
    named = Plan(operations=(PlannedOperation(),), listeners=(PlannedListener(fault="name-unknown"),))
    shares = Shares.of([*_plans(1, 0), named])
    assert {shares.enter(), shares.enter()} == {PLAIN, Way(names=True)}
