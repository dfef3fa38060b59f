"""Results that survive, for a subject that promises futures: every property, over scripts that are told and drawn."""

import pytest

from suites.bench import Bench, BrokenMustError, NotRunError
from suites.findings import Verdict
from suites.futures.bench import FuturesBench
from suites.futures.checks import CHECKS
from suites.futures.checks.check import FuturesCheck
from suites.futures.suite import UNDER_TOXIPROXY

pytestmark = pytest.mark.promises("futures")


@pytest.fixture(scope="module")
def futures(bench: Bench) -> FuturesBench:
    """The suite, played once; every property is judged on what was lived through."""
    if bench.under.toxiproxy:
        raise NotRunError(f"not_run: {UNDER_TOXIPROXY}")
    return FuturesBench.play(bench)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_the_property_holds_in_every_script(futures: FuturesBench, check: FuturesCheck) -> None:
    """It was exercised, and never broken."""
    verdict, says = futures.verdict_of(check)
    if verdict is None:
        raise NotRunError(f"not_run: {says}")
    if verdict is not Verdict.PASS:
        raise BrokenMustError(says)
