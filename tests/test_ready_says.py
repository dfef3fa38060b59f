"""A subject that answers 200 before it knows all of its upstreams is ready when it says so."""

import pytest

from suites.endpoint import Endpoint
from tests.router_client import staged


@pytest.mark.parametrize(("says", "ready"), [("", True), ('"workers":2', True), ('"workers":3', False)])
async def test_it_is_ready_when_it_says_that_text(says: str, ready: bool) -> None:
    """Where none is named, 200 alone is enough."""
    with staged(probes={"/readiness": {"workers": 2}}) as stage:
        assert await Endpoint(address=("127.0.0.1", stage.port)).is_ready("/readiness", 5_000, says) is ready
