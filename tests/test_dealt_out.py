"""How plans are dealt out to worker processes."""

from dataclasses import replace

from retryproof.workers import dealt_out
from suites.cells import all_cells
from suites.way import way_of


def test_of_every_way_each_worker_has_some_in_their_order() -> None:
    """And all of them: those of one way share an instance, and what stands first comes first."""
    plans = dict(enumerate([cell.plan for cell in all_cells()][:300]))
    for count in (1, 2, 3):
        shares = dealt_out(plans, count)
        assert sorted(item for share in shares for item in share) == sorted(plans.items())
        assert all(share == sorted(share) for share in shares)
        assert max(map(len, shares)) - min(map(len, shares)) <= 1
        for way in {str(way_of(plan)) for plan in plans.values()}:
            of_way = [sum(str(way_of(plan)) == way for _, plan in share) for share in shares]
            assert max(of_way) - min(of_way) <= 1


def test_ways_of_which_there_is_one_plan_do_not_all_come_to_the_first() -> None:
    """Each is a way of its own to Toxiproxy, or over TLS."""
    plain = next(cell.plan for cell in all_cells() if not cell.plan.tls)
    plans = {0: plain, 1: replace(plain, tls=True)}
    assert [len(share) for share in dealt_out(plans, 2)] == [1, 1]
