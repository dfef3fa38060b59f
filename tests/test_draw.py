"""Plans are drawn around every fault alike, so that none is left to the luck of the draw."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

from faults.acts import LeaveUnread, needs_whole
from faults.catalogue import CATALOGUE, filed_under
from faults.coverage import Depth
from faults.plan import Plan
from faults.truth import speaks_unasked
from suites.draw import drawn_plans, joint
from suites.drawable import Drawable
from suites.reach import Machine
from suites.run import Promise, SubjectFacts
from suites.strategies import SMALL_BYTES
from suites.subject import SubjectSpec

MACHINE = Machine(packets=True, filters=True)


def _spec(reach: dict[str, str] | None = None) -> SubjectSpec:
    facts = SubjectFacts(name="any", promises=Promise.TRANSPARENT)
    return SubjectSpec(facts=facts, upstreams=2, tls=True, names=True, pool=True, passes_expect=True, reach=reach or {})


def _alone(wanted: str) -> SubjectSpec:
    """One that can be reached by that fault, and else by what is healthy."""
    names = Drawable(joint([_spec()]), MACHINE, Depth.DEEP).names
    healthy = next(fault.id for fault in CATALOGUE.values() if fault.lets_pass)
    return _spec({name: "not wanted" for name in names if name not in (wanted, healthy)})


def _firsts(plan: Plan) -> set[str]:
    """What is met first, by a connection or by an operation."""
    met = [listener.fault for listener in plan.listeners] or [each.faults[0] for each in plan.operations if each.faults]
    return {filed_under(fault) for fault in met}


def test_every_fault_is_the_first_that_somebody_meets() -> None:
    """As many plans as there are faults and families: one around each; and the same ones from the same seed."""
    spec = _spec()
    names = Drawable(joint([spec]), MACHINE).names
    plans = drawn_plans([spec], MACHINE, examples=len(names), seed_number=1)
    assert len(set(plans)) == len(names)
    met = Counter(fault for plan in plans for fault in _firsts(plan))
    assert [name for name in names if not met[name]] == []
    assert drawn_plans([spec], MACHINE, examples=9, seed_number=1) == drawn_plans(
        [spec], MACHINE, examples=9, seed_number=1
    )


def test_a_fault_that_lets_nothing_follow_has_many_plans_all_the_same() -> None:
    """What is served late, when its sender has gone, is surrounded by other requests."""
    late = next(f.id for f in CATALOGUE.values() if isinstance(f.act, LeaveUnread) and f.act.serve_after is not None)
    plans = drawn_plans([_alone(late)], MACHINE, examples=120, seed_number=1)
    assert sum(late in plan.faults for plan in plans) >= 50


def test_nothing_is_in_flight_beside_what_is_sent_unasked() -> None:
    """Another operation on that connection could not tell it from its answer."""
    unasked = next(fault.id for fault in CATALOGUE.values() if speaks_unasked(fault.act))
    plans = [
        plan
        for spec in (_alone(unasked), _spec())
        for plan in drawn_plans([spec], MACHINE, examples=60, seed_number=1)
        if unasked in plan.faults
    ]
    waves = [[each.wave for each in plan.operations] for plan in plans]
    assert waves
    assert all(wave.count(0) == 1 for wave in waves)
    assert all(unasked in plan.operations[0].faults for plan in plans)


def test_what_costs_too_much_is_drawn_where_everything_is() -> None:
    """At the greatest depth alone, as its data say."""
    costly = next(fault.id for fault in CATALOGUE.values() if needs_whole(fault.act))
    for depth in Depth:
        plans = drawn_plans([_alone(costly)], MACHINE, examples=6, seed_number=1, depth=depth)
        assert any(costly in plan.faults for plan in plans) is (depth is Depth.DEEP)


def test_modules_that_happen_to_be_imported_change_no_plan(tmp_path: Path) -> None:
    """A subject in Python, or a working copy of ours: Hypothesis takes constants from the source of such modules."""
    (tmp_path / "somebodys.py").write_text(f"SIZES = {list(range(SMALL_BYTES, SMALL_BYTES + 3_000, 7))}\n")
    draw = (
        "from suites.draw import drawn_plans; from tests.test_draw import MACHINE, _spec;"
        "print(drawn_plans([_spec()], MACHINE, examples=250, seed_number=1))"
    )
    drawn = [
        subprocess.run(
            [sys.executable, "-c", f"import sys; sys.path[:0] = {[str(tmp_path), *sys.path]!r}; {imports}{draw}"],
            check=True,
            capture_output=True,
        ).stdout
        for imports in ("", "import somebodys; ")
    ]
    assert drawn[0] == drawn[1]
