"""Each check kills the mutants that it is there for, and the matrix of who kills whom is exactly the committed one."""

import asyncio

import pytest
import uvloop

from fake_router.thread import RouterThread
from suites.checks import CHECKS
from suites.checks.twins import CHECK as TWINS
from suites.draw import drawn_plans
from suites.driver import Driver
from suites.judge import judge
from suites.lanes import run_plans
from suites.reach import Machine
from suites.run import Run
from tests.mutants import answers, resending, words
from tests.mutants.futures import FUTURES
from tests.mutants.living import CELLS, How, Kill, Life, live
from tests.mutants.matrix import load_matrix
from tests.mutants.proxy import SIDES
from tests.mutants.roster import CALLED, PROCESSES, unbroken_beside
from tests.mutants.streaming import STREAMERS
from tests.mutants.subject import Make, called

pytestmark = pytest.mark.alone

MATRIX = load_matrix()
EXAMPLES = 200
SEED = 0
_BATCH = 16


@pytest.fixture(scope="module")
def lives() -> dict[str, Life]:
    """All mutants, and all that is unbroken, through all cells."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(live(MATRIX.cells))


@pytest.mark.parametrize("name", MATRIX.rows)
def test_a_mutant_is_killed_as_its_row_says(lives: dict[str, Life], name: str) -> None:
    """The same checks kill it, in as many cells, and no other does."""
    found = lives[name].kills(lives[unbroken_beside(name)])
    declared = {kill: entry.cells for kill, entry in MATRIX.rows[name].kills.items()}
    assert {kill: len(ids) for kill, ids in found.items()} == declared, _shown(found)


@pytest.mark.parametrize("name", MATRIX.unbroken)
def test_nothing_kills_an_unbroken_forwarder(lives: dict[str, Life], name: str) -> None:
    """A check that kills what is right proves nothing when it kills a mutant."""
    found = lives[name].kills(lives[unbroken_beside(name)])
    assert found == {}, _shown(found)


def _shown(found: dict[Kill, dict[str, str]]) -> str:
    lines = []
    for kill, cells in sorted(found.items()):
        lines += [f"{kill} in {len(cells)} cells:", *(f"    {id_}: {says}" for id_, says in cells.items())]
    return "\n".join(["", *lines])


def test_every_check_has_a_mutant_that_it_must_kill() -> None:
    """A new check breaks the build until it has one."""
    assert {row.target for row in MATRIX.rows.values()} == {check.name for check in (*CHECKS, TWINS)}


@pytest.mark.parametrize("name", MATRIX.rows)
def test_a_row_names_its_target_and_a_reason_for_everything_else(name: str) -> None:
    """The target kills; each further kill says why it is there, and the target needs no reason."""
    row = MATRIX.rows[name]
    assert row.target in {kill.check for kill in row.kills}
    assert {kill.check for kill, entry in row.kills.items() if not entry.why} == {row.target}


def test_every_forwarder_of_the_roster_is_in_the_matrix() -> None:
    """A mutant without a row, or a row without a mutant, breaks the build."""
    assert {*CALLED, *SIDES, *STREAMERS, *FUTURES, *PROCESSES} == {*MATRIX.rows, *MATRIX.unbroken}


def test_the_matrix_holds_both_twins_of_each_cell() -> None:
    """A cell whose twin is left out would never be held against it."""
    twins = {CELLS[id_].twin for id_ in MATRIX.cells} - {None}
    assert twins <= set(MATRIX.cells)


@pytest.mark.parametrize(
    ("make", "check"),
    [
        pytest.param(resending.SendsServerErrorsAgain, "at-most-once", id="duplicate"),
        pytest.param(answers.TakesEvery200ForSuccess, "no-garbage", id="garbage"),
        pytest.param(words.SaysLostResultsWereNotExecuted, "honest-failure", id="lie"),
    ],
)
async def test_drawn_plans_kill_what_matters_most(make: Make, check: str) -> None:
    """Among so many plans of a seed there is one on which that check fails."""
    subject = called("drawn", make)
    plans = drawn_plans([subject.spec], Machine.here(), examples=EXAMPLES, seed_number=SEED)
    killed: set[Kill] = set()

    def judged(_: int, run: Run) -> None:
        killed.update(Kill(How.FAIL, finding.check) for finding in judge(run).failures)

    with RouterThread() as routers:
        driver = Driver(subject=subject, routers=routers)
        for first in range(0, len(plans), _BATCH):
            await run_plans(driver, plans[first : first + _BATCH], judged)
            if Kill(How.FAIL, check) in killed:
                break
    assert Kill(How.FAIL, check) in killed
