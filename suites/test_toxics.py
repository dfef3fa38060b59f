"""Properties of any forwarder behind a real Toxiproxy: toxics are drawn together with faults, and set themselves."""

from collections.abc import Callable, Sequence

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from faults.acts import LeaveUnread
from faults.answer import Answer
from faults.catalogue import CATALOGUE, POISONS
from faults.coverage import Depth
from faults.fault import Fault
from faults.plan import Plan
from faults.vocabulary import Content, Ending, Phase, Sight
from suites.bench import Bench, NotRunError
from suites.drawable import Drawable
from suites.drawn_sendings import on_either_sending
from suites.drawn_toxics import latency, under
from suites.strategies import plans, plans_around

FEWEST = 5  # examples of each property; each meets a read timeout, or nearly


def _live_through(bench: Bench, drawn: st.SearchStrategy[Plan], suite: str) -> None:
    """A third of the examples: each of these is lived through by a process more than the others are."""

    @settings(
        max_examples=max(FEWEST, bench.examples // 3),
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )
    @given(drawn.filter(bench.reaches))
    def holds(plan: Plan) -> None:
        bench.holds(plan, suite)

    holds()


def _under_latency(bench: Bench, faults: Sequence[Fault], suite: str) -> None:
    """Each under a drawn latency: on the first sending or the second, on the first upstream or on every one, on a new
    connection or one that is used again, whole or as a stream, alone or in company.
    """
    assert faults, "the catalogue has none of this kind"
    drawable = Drawable(bench.spec, bench.machine, Depth.FULL)
    reached = [fault.id for fault in faults if fault.id in drawable.names]
    if not reached:
        raise NotRunError(f"not_run: {bench.spec.facts.name} reaches none of {', '.join(one.id for one in faults)}")

    def around(fault: str) -> st.SearchStrategy[Plan]:
        return on_either_sending(plans_around(drawable, fault), fault, bench.spec)

    _live_through(bench, under(st.sampled_from(reached).flatmap(around), latency(bench.spec), drawable), suite)


def _answers(so: Callable[[Answer, Fault], bool]) -> list[Fault]:
    """The faults of the catalogue that are such an answer, whole or as a stream alike."""
    return [
        fault
        for fault in CATALOGUE.values()
        if isinstance(fault.act, Answer) and not fault.act.needs_stream and so(fault.act, fault)
    ]


def test_a_reset_in_the_middle_of_a_body_under_latency(toxic_bench: Bench) -> None:
    """The caller gets no half of an answer for a whole one, though Toxiproxy makes the reset an end."""
    cut = _answers(lambda act, fault: fault.phase is Phase.BODY and act.ending is Ending.RESET and act.status == 200)
    _under_latency(toxic_bench, cut, "mid-body reset under latency")


def test_html_with_200_under_latency(toxic_bench: Bench) -> None:
    """It is no success, however late it comes."""
    html = _answers(lambda act, _: act.content is Content.HTML and act.status == 200)
    _under_latency(toxic_bench, html, "HTML with 200 under latency")


def test_a_5xx_after_the_work_was_accepted_under_latency(toxic_bench: Bench) -> None:
    """It is sent once, whatever its contract says of other answers."""
    refused = _answers(lambda act, fault: act.status >= 500 and fault.truth.executed and not act.incomplete)
    _under_latency(toxic_bench, refused, "5xx after the work under latency")


def test_a_slow_accept_under_latency(toxic_bench: Bench) -> None:
    """What lies unread in an accepted connection may still be served when its sender has given up."""
    slow = [
        fault
        for fault in CATALOGUE.values()
        if isinstance(fault.act, LeaveUnread) and not fault.act.small_buffer and fault.evidence.sight is Sight.SILENCE
    ]
    _under_latency(toxic_bench, slow, "slow accept under latency")


def test_a_toxic_that_is_the_fault_under_another(toxic_bench: Bench) -> None:
    """Each at each of its moments, with toxics laid over that lose nothing."""
    drawable = Drawable(toxic_bench.spec, toxic_bench.machine, Depth.FULL, toxics=True)
    poisons = [name for name in drawable.names if name in POISONS]
    around = st.sampled_from(poisons).flatmap(lambda name: plans_around(drawable, name))
    _live_through(toxic_bench, around, "toxics as faults")


def test_no_plan_under_drawn_toxics_breaks_a_must(toxic_bench: Bench) -> None:
    """Whatever its faults are, whatever lies over its hops, and in whichever direction."""
    drawn = plans(toxic_bench.spec, toxic_bench.machine, toxics=True)
    _live_through(toxic_bench, drawn, "drawn plans under toxics")
