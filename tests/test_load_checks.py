"""What is judged under load, on literal tallies and accounts."""

import numpy as np
import pytest

from fake_router.service import Engine, Held
from suites.findings import Verdict, worst
from suites.load.asked import Load
from suites.load.checks import CHECKS, judged
from suites.load.ended import Ended
from suites.load.found import Found
from suites.run import Promise
from tests.load_data import account, found, sample, tally

OK, NOT_EXECUTED, UNKNOWN, GARBAGE, NO_ANSWER, GIVEN_UP = Ended
_GOOD = found(tally(OK, OK, OK), account([1, 1, 1]))


def _verdicts(load: Found) -> dict[str, Verdict]:
    """Of all that did not pass."""
    return {one.check: one.verdict for one in judged(load) if one.verdict is not Verdict.PASS}


def test_a_load_of_which_all_came_back_passes() -> None:
    """Every check has its say."""
    assert worst(judged(_GOOD)) is Verdict.PASS
    assert len(judged(_GOOD)) > len(CHECKS) - 1


@pytest.mark.parametrize(
    ("load", "check"),
    [
        (found(tally(OK, OK), account([1, 2])), "at-most-once"),
        (found(tally(OK, UNKNOWN), account([1, 1])), "none-lost"),
        (found(tally(OK, NO_ANSWER), account([1, 0])), "answered"),
        (found(tally(OK, NOT_EXECUTED), account([1, 1], struck=[2])), "honest-failure"),
        (found(tally(OK, OK), account([1, 0])), "honest-success"),
        (found(tally(OK, GARBAGE), account([1, 1], struck=[2])), "own-result"),
        (found(tally(OK), account([1]), died=("instance 0 was killed by SIGKILL",)), "survives"),
    ],
)
def test_each_check_fails_what_it_is_for(load: Found, check: str) -> None:
    """And nothing else says FAIL."""
    assert _verdicts(load) == {check: Verdict.FAIL}


@pytest.mark.parametrize(
    ("load", "check"),
    [
        (found(tally(), account([])), "load-was-real"),
        (found(tally(OK, OK), account([1, 1]), most_in_flight=1), "load-was-real"),
        (found(tally(OK), account([1]), load=Load(in_flight=1, operations=1, service=Held())), "load-was-real"),
        (found(tally(OK), account([1]), load=Load(in_flight=1, operations=1, mix={})), "load-was-real"),
        (found(tally(OK), account([1, 1])), "accounted"),
        (found(tally(OK), account([1]), settled=False), "accounted"),
        (found(tally(NO_ANSWER), account([0]), promises=Promise.TRANSPARENT), "answered"),
    ],
)
def test_what_proves_nothing_is_unknown(load: Found, check: str) -> None:
    """A load that was none, and numbers that do not add up."""
    assert _verdicts(load) == {check: Verdict.UNKNOWN}


def test_an_engine_at_which_nothing_queued_was_no_engine() -> None:
    """Where more were in flight than it serves."""
    load = Load(in_flight=2, operations=2, service=Engine(capacity=1, seconds=1))
    queued = found(tally(OK, OK), account([1, 1]), load=load, most_waiting=2)
    idle = found(tally(OK, OK), account([1, 1]), load=load, most_waiting=1)
    assert _verdicts(queued) == {}
    assert _verdicts(idle) == {"load-was-real": Verdict.UNKNOWN}


def test_what_a_fault_struck_may_be_lost() -> None:
    """Its failure is honest: nothing is claimed."""
    load = Load(in_flight=1, operations=2, mix={})
    assert _verdicts(found(tally(OK, UNKNOWN), account([1, 1], struck=[2]), load=load)) == {}


def test_a_transparent_proxy_passes_on_what_its_router_sent() -> None:
    """Garbage too, where a fault made it."""
    struck = found(tally(GARBAGE), account([1], struck=[1]), promises=Promise.TRANSPARENT)
    whole = found(tally(GARBAGE), account([1]), promises=Promise.TRANSPARENT)
    assert _verdicts(struck) == {}
    assert _verdicts(whole)["own-result"] is Verdict.FAIL


def test_what_our_own_callers_gave_up_says_nothing_of_the_subject() -> None:
    """That one of its processes has ended does: those in another one had still been answered."""
    load = found(tally(OK, GIVEN_UP, GIVEN_UP), account([1, 1, 0]), died=("instance 0 was killed by SIGKILL",))
    assert _verdicts(load) == {"survives": Verdict.FAIL}


def test_what_nobody_can_prove_wrong_is_passed_on_by_anybody() -> None:
    """A whole result of another operation, which the router itself sent."""
    assert _verdicts(found(tally(OK, GARBAGE), account([1, 1], struck=[2], unprovable=[2]))) == {}


def test_an_honest_failure_without_execution_breaks_nothing() -> None:
    """It is counted among the failures."""
    assert _verdicts(found(tally(OK, NOT_EXECUTED), account([1, 0]))) == {}


def _soak(*quarters: tuple[int, int], for_s: float = 40, promises: Promise = Promise.ANSWERING) -> Found:
    """Four quarters, each with so many sockets, and so many bytes of memory."""
    samples = [
        sample(1 + quarter * for_s / 4 + n * for_s / 40, resident=resident, sockets=sockets)
        for quarter, (sockets, resident) in enumerate(quarters)
        for n in range(10)
    ]
    load = Load(in_flight=1, operations=1, for_s=for_s)
    return found(tally(OK), account([1]), load=load, samples=samples, promises=promises)


_MIB = 1024**2


@pytest.mark.parametrize(
    ("quarters", "verdicts"),
    [
        ([(10, _MIB), (90, 9 * _MIB), (100, 10 * _MIB), (100, 10 * _MIB)], {}),
        ([(10, _MIB), (90, 9 * _MIB), (100, 10 * _MIB), (127, 10 * _MIB)], {"flat-sockets": Verdict.FAIL}),
        ([(10, _MIB), (90, 9 * _MIB), (100, 10 * _MIB), (100, 12 * _MIB)], {"flat-memory": Verdict.FAIL}),
    ],
)
def test_what_a_subject_holds_does_not_grow(quarters: list[tuple[int, int]], verdicts: dict[str, Verdict]) -> None:
    """From the third quarter to the last; before that it may."""
    assert _verdicts(_soak(*quarters)) == verdicts


def test_the_memory_of_results_that_are_kept_is_judged_when_the_first_are_gone() -> None:
    """And a soak at which nobody could look shows nothing."""
    grows = [(10, n * _MIB) for n in range(1, 5)]
    assert _verdicts(_soak(*grows, promises=Promise.FUTURES)) == {}
    assert _verdicts(_soak(*grows, promises=Promise.FUTURES, for_s=600)) == {"flat-memory": Verdict.FAIL}
    short = found(tally(OK), account([1]), load=Load(in_flight=1, operations=1, for_s=1))
    assert _verdicts(short) == {"flat": Verdict.UNKNOWN}


def test_a_check_that_crashes_has_shown_nothing() -> None:
    """The others still have their say."""
    broken = found(tally(OK, OK), account([1, 1]))
    broken.account.attempts.resize(1, refcheck=False)
    assert _verdicts(broken) == {"accounted": Verdict.UNKNOWN}


def test_two_outcomes_of_one_operation_are_an_error_of_the_instrument() -> None:
    """Not of the subject."""
    twice = tally(OK, OK)
    twice.records["number"][:] = 1
    assert _verdicts(found(twice, account([1, 0]))) == {"accounted": Verdict.UNKNOWN}
    assert np.all(twice.records["number"] == 1)
