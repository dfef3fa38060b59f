"""A count of lost bytes is one, or an error says what was there instead; none is ever taken for no loss."""

import pytest

from faults.toxics import Direction
from suites.toxiproxy.client import ToxiproxyClient
from suites.toxiproxy.errors import NotToxiproxyError
from tests.toxiproxy_api import PROXY, answering, http


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (
            http(404, "404 page not found"),
            "does not count the bytes of its proxies; expected it started with -proxy",
        ),
        (http(200, "# TYPE go_info gauge\ngo_info 1"), "does not count the bytes of its proxies"),
        (http(200, "<html>"), "answered '<html>'; expected Toxiproxy's API"),
    ],
)
async def test_a_server_that_counts_nothing_is_told_from_what_is_none(answer: bytes, says: str) -> None:
    """It says how it has to be started."""
    async with answering(answer) as address:
        with pytest.raises(NotToxiproxyError, match=says):
            await ToxiproxyClient(address).lost(PROXY)


async def test_a_server_without_a_connection_has_lost_nothing() -> None:
    """Its metrics are empty until one is over."""
    async with answering(http(200, "")) as address:
        assert await ToxiproxyClient(address).lost(PROXY) == dict.fromkeys(Direction, 0)


@pytest.mark.parametrize("count", ["many", "NaN", "Inf"])
async def test_a_count_that_is_no_number_is_not_toxiproxys(count: str) -> None:
    """Of bytes that a proxy received."""
    line = f'toxiproxy_proxy_received_bytes_total{{direction="upstream",listener="a",proxy="p",upstream="b"}} {count}'
    async with answering(http(200, line)) as address:
        with pytest.raises(NotToxiproxyError, match=f"answered '{count}'"):
            await ToxiproxyClient(address).lost(PROXY)
