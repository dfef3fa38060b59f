"""Cells that fit their subjects."""

from dataclasses import replace

from fake_router.identity import IDENTITY
from faults.acts import needs_tcp
from faults.coverage import Depth
from faults.form import Api
from suites.cells import all_cells
from suites.fitting import cells_for
from suites.reach import Machine, unreachable
from suites.run import Promise, SubjectFacts
from suites.subject import SubjectSpec, spoken_by_all

FACTS = SubjectFacts(name="one", promises=Promise.ANSWERING)
CHATTY = SubjectSpec(facts=FACTS, apis=(Api.CHAT,), upstreams=2)
PLAIN = SubjectSpec(facts=FACTS, apis=(Api.COMPLETIONS,), upstreams=2)
BOTH = SubjectSpec(facts=FACTS, apis=(Api.CHAT, Api.COMPLETIONS), upstreams=2)
MACHINE = Machine(packets=True)


def test_a_subject_that_speaks_chat_alone_is_asked_for_nothing_else() -> None:
    """Every cell but those that would be there twice, each operation a chat."""
    cells = cells_for([CHATTY], Depth.FULL)
    asked = {operation.api for cell in cells for operation in cell.plan.operations}
    assert asked == {"chat"}
    assert {cell.form.api for cell in cells} == {Api.CHAT}
    assert [cell.id for cell in cells] == [c.id for c in all_cells(Depth.FULL) if c.form.api is Api.COMPLETIONS]


def test_a_subject_that_speaks_completions_gets_the_cells_as_they_are() -> None:
    """What it does not speak is not run, with the reason."""
    assert cells_for([BOTH], Depth.DEEP) == cells_for([PLAIN], Depth.DEEP) == all_cells()
    chats = [cell for cell in all_cells() if cell.form.api is Api.CHAT]
    reasons = {unreachable(cell.plan, PLAIN, MACHINE) for cell in chats}
    assert reasons == {"asks for /v1/chat/completions; one speaks /v1/completions alone"}


def test_a_subject_that_speaks_tls_alone_gets_every_cell_over_it_once() -> None:
    """Under the ids that they have; those that strike plain TCP alone stay as they are, and are not run."""
    cells = cells_for([replace(PLAIN, identity=IDENTITY)], Depth.FULL)
    plain = {cell.id for cell in cells if not cell.plan.tls}
    assert plain == {c.id for c in all_cells(Depth.FULL) if needs_tcp(c.fault.act)} != set()
    usual = {cell.id for cell in all_cells(Depth.FULL)}
    assert usual - {cell.id for cell in cells} == {f"{cell.id}/tls" for cell in cells} & usual
    assert {cell.fault.id for cell in cells} == {cell.fault.id for cell in all_cells(Depth.FULL)}


def test_no_fault_is_left_out_for_one_that_has_a_single_upstream() -> None:
    """At each depth it meets, alone, what others meet beside a healthy one; and nobody else gets more cells."""
    for depth in Depth:
        usual, alone = all_cells(depth), cells_for([replace(PLAIN, upstreams=1), PLAIN], depth)
        reached = {cell.fault.id for cell in alone if cell.plan.upstreams == 1}
        assert {cell.fault.id for cell in usual if cell.plan.listeners} <= reached
        assert {cell.id for cell in usual} <= {cell.id for cell in alone}
        assert cells_for([PLAIN], depth) == usual


def test_what_all_speak_does_not_depend_on_their_order() -> None:
    """A sign-off has the same cells either way."""
    assert spoken_by_all([BOTH, CHATTY]) == spoken_by_all([CHATTY, BOTH]) == (Api.CHAT,)
    assert spoken_by_all([PLAIN, CHATTY]) == ()
    assert CHATTY.plain.form.api is Api.CHAT
