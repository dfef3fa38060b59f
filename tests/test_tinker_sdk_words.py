"""What the real SDK tells its user of an operation that the reference server could not finish, or had to send again."""

from collections.abc import Iterator

import pytest

from fake_router.entries import Received
from suites.bench import Bench
from suites.tinker_sdk.bench import SdkBench, Transport
from suites.tinker_sdk.judging import SdkRecord
from suites.tinker_sdk.orders import Raised, Sampled
from suites.tinker_sdk.scenarios import SCENARIOS

pytestmark = pytest.mark.tinker

BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}


@pytest.fixture(scope="module", params=["reference-server", "reference-server:never"])
def sdk(request: pytest.FixtureRequest) -> Iterator[SdkBench]:
    """The SDK before a server of that policy."""
    with Bench.open(request.param, 1) as bench, SdkBench.open(bench) as opened:
        yield opened


def _lived(sdk: SdkBench, name: str) -> tuple[SdkRecord, int]:
    record = sdk.holds(BY_NAME[name], Transport.PYQWEST)
    return record, sum(isinstance(entry, Received) for entry in record.ledger)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("router resets after the work", "Request failed: may have run (1 attempt): "),
        ("killed in flight", "Request failed: unknown, may have run: "),
    ],
)
def test_what_may_have_run_says_so(sdk: SdkBench, name: str, says: str) -> None:
    """And was sent once, whatever the policy."""
    record, sent = _lived(sdk, name)
    (asked,) = record.asked
    assert isinstance(asked.answer, Raised)
    assert asked.answer.says.startswith(says)
    assert sent == 1


def test_what_was_not_accepted_is_sent_again_or_says_that_it_did_not_run(sdk: SdkBench) -> None:
    """By the policy."""
    record, sent = _lived(sdk, "router not accepting")
    (asked,) = record.asked
    if sdk.bench.name == "reference-server":
        assert (isinstance(asked.answer, Sampled), sent) == (True, 2)
    else:
        assert isinstance(asked.answer, Raised)
        assert asked.answer.says.startswith("Request failed: not executed (1 attempt): 503 ")
        assert sent == 1
