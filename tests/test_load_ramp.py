"""A ramp within one load: how many are in flight when, and what an operation took meanwhile."""

import pytest

from signoff.load_page import html_of_load
from signoff.load_reporting import step_of
from suites.findings import Verdict
from suites.load.asked import Load
from suites.load.checks import judged
from suites.load.ended import Ended
from suites.load.found import Found
from suites.load.limits import Layout
from suites.load.stairs import stairs_up_to
from suites.load.target import orders, target_named
from tests.load_data import account, found, sample, tally
from tests.test_html_page import data_in
from tests.test_load_report import loaded

RAMP = Load(in_flight=4, operations=100, for_s=30, stairs=3)


def _climbed(*cpu_ms: float, seen: int = 4) -> Found:
    """Ten operations a second; each took so much CPU on its stair. On the last so many are in flight."""
    samples, cpu_s, count = [], 0.0, 60
    for nth in range(count):
        stair = nth * 3 // count
        in_flight = (1, 2, seen)[stair]
        samples.append(
            sample(nth / 2, done=5 * nth, in_flight=in_flight, cpu_s=cpu_s, resident=stair, sockets=1_000 * nth)
        )
        cpu_s += 5 * cpu_ms[stair] / 1_000
    return found(tally(*[Ended.OK] * 4), account([1] * 4), load=RAMP, samples=samples, most_in_flight=4)


def test_each_stair_is_half_of_the_next() -> None:
    """The last is all of it; more than can be halved are none."""
    assert stairs_up_to(4_096, 4) == (512, 1_024, 2_048, 4_096)
    assert stairs_up_to(5, 3) == (2, 3, 5)
    assert stairs_up_to(7, 1) == (7,)
    with pytest.raises(ValueError, match="a ramp of 3 stairs up to 3 in flight; expected 1 to 10, so many"):
        stairs_up_to(3, 3)


@pytest.mark.parametrize("processes", [1, 2, 3])
def test_callers_begin_with_their_stair_whatever_process_they_are_in(processes: int) -> None:
    """As many of all processes together as the stair has."""
    layout = Layout(routers=1, instances=1, callers=processes, sources=1, connecting=16)
    told = orders(RAMP, layout, target_named("nginx"), [("127.0.0.1", 1)])
    begin = sorted(order.begins_after_s(slot) for order in told for slot in range(order.slots))
    assert begin == [0, 10, 20, 20]


def test_what_an_operation_took_is_told_of_each_stair() -> None:
    """From a quarter of it on: what begins it is left out. The page draws these in the place of the whole."""
    step = step_of(_climbed(1, 2, 4))
    assert [one.in_flight for one in step.stairs] == [1, 2, 4]
    assert [one.cpu_ms_per_operation for one in step.stairs] == pytest.approx([1, 2, 4])
    assert [(one.operations, one.per_second) for one in step.stairs] == [(70, 10)] * 3
    page = html_of_load(loaded(("steps", [step])))
    assert b'<th scope="row">of it 2</th><td class="n">70</td><td class="n"></td><td class="n">10</td>' in page
    costs = data_in(page)["steps"][0]["costs"]
    assert [(one["in_flight"], one["caller_cpu_ms"]) for one in costs] == [(1, 0), (2, 0), (4, 0)]


def test_a_stair_that_was_none_proves_nothing() -> None:
    """And what grows by what was asked is no leak: sockets and memory of a ramp are not judged."""
    says = {one.check: (one.verdict, one.says) for one in judged(_climbed(1, 1, 1, seen=3))}
    assert says["load-was-real"] == (Verdict.UNKNOWN, "of the stair with 4 in flight 3 were seen at most")
    assert not any(check.startswith("flat") for check in says)
    assert {one.verdict for one in judged(_climbed(1, 1, 1))} == {Verdict.PASS}
