"""What the tests of the real Toxiproxy share: one server for all of them; and who runs those of the real SDK."""

from collections.abc import Iterator

import pytest

from suites.tinker_sdk.process import missing
from tests.real_toxiproxy import RealToxiproxy, real_toxiproxy


@pytest.fixture(scope="session")
def _server() -> Iterator[RealToxiproxy]:
    with real_toxiproxy() as real:
        yield real


@pytest.fixture
def real(_server: RealToxiproxy) -> Iterator[RealToxiproxy]:
    """The server of this session, without the sockets of other tests."""
    yield _server
    _server.close_sockets()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The SDK is a large package that most environments go without: what is about it is run where it is there."""
    if missing() is None:
        return
    about = [item for item in items if item.get_closest_marker("tinker") is not None]
    config.hook.pytest_deselected(items=about)
    items[:] = [item for item in items if item not in about]
