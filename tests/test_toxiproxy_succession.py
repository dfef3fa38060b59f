"""A server of ours is followed by a fresh one before its count of lost bytes takes long; nobody notices."""

import pytest

from faults.toxics import Direction
from suites.processes import Supervisor
from suites.toxiproxy import succession as succession_module
from suites.toxiproxy.errors import UnreachableError
from suites.toxiproxy.source import Standing
from suites.toxiproxy.succession import Succession
from tests.real_toxiproxy import RealToxiproxy

pytestmark = pytest.mark.toxiproxy
NOBODY = ("127.0.0.1", 9)


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(succession_module, "MOST_PROXIES", 3)


async def test_who_is_served_stays_with_one_server(real: RealToxiproxy) -> None:
    """Who comes later gets the next; the old one goes with its last user, and the new one at the end."""
    async with Supervisor() as supervisor, Succession.open(supervisor, real.server.source) as servers:
        async with servers.serving() as old:
            proxy = await old.add_proxy(NOBODY)
            async with servers.serving() as again:
                assert again is old
                while old.made < 3:
                    await old.add_proxy(NOBODY)
            async with servers.serving() as new:
                assert new is servers.now is not old
                await new.add_proxy(NOBODY)
            assert await old.client.lost(proxy) == dict.fromkeys(Direction, 0)
        with pytest.raises(UnreachableError):
            await old.client.version()
        async with servers.serving() as last:
            assert last is new
    with pytest.raises(UnreachableError):
        await new.client.version()


async def test_one_that_nobody_uses_any_more_goes_when_it_is_followed(real: RealToxiproxy) -> None:
    """And not before: it may still serve."""
    async with Supervisor() as supervisor, Succession.open(supervisor, real.server.source) as servers:
        old = servers.now
        while old.made < 3:
            async with servers.serving() as same:
                assert same is old
                await old.remove_proxy(await old.add_proxy(NOBODY))
        assert servers.now is old
        async with servers.serving() as new:
            assert new is not old
            with pytest.raises(UnreachableError):
                await old.client.version()


async def test_one_that_stands_is_not_replaced(real: RealToxiproxy) -> None:
    """It is not ours."""
    async with Supervisor() as supervisor, Succession.open(supervisor, Standing(url=real.server.client.url)) as servers:
        first = servers.now
        for _ in range(5):
            async with servers.serving() as server:
                await server.remove_proxy(await server.add_proxy(NOBODY))
        assert servers.now is server is first
