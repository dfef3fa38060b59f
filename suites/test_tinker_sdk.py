"""The real Tinker SDK as the caller of a subject that promises futures: right results, and work that runs once."""

from collections.abc import Iterator

import pytest

from suites.bench import Bench
from suites.tinker_sdk.bench import SdkBench, Transport
from suites.tinker_sdk.scenarios import SCENARIOS, Scenario

pytestmark = [pytest.mark.promises("futures"), pytest.mark.tinker]


@pytest.fixture(scope="module")
def sdk(bench: Bench) -> Iterator[SdkBench]:
    """The SDK's process, and servers that it asks."""
    with SdkBench.open(bench) as opened:
        yield opened


@pytest.fixture(scope="module")
def toxic_sdk(toxic_bench: Bench) -> Iterator[SdkBench]:
    """The same, with a Toxiproxy between them."""
    with SdkBench.open(toxic_bench) as opened:
        yield opened


def _named(*, through: bool) -> dict[str, Scenario]:
    return {scenario.name: scenario for scenario in SCENARIOS if scenario.through is through}


@pytest.mark.parametrize("transport", Transport)
@pytest.mark.parametrize("name", _named(through=False))
def test_the_sdk_gets_what_is_right(sdk: SdkBench, name: str, transport: Transport) -> None:
    """Straight to the server."""
    sdk.holds(_named(through=False)[name], transport)


@pytest.mark.parametrize("transport", Transport)
@pytest.mark.parametrize("name", _named(through=True))
def test_the_sdk_gets_what_is_right_whatever_is_lost_on_its_way(
    toxic_sdk: SdkBench, name: str, transport: Transport
) -> None:
    """Through a Toxiproxy that breaks the way at that moment."""
    toxic_sdk.holds(_named(through=True)[name], transport)
