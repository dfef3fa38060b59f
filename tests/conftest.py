"""What the tests of the real Toxiproxy share: one server for all of them."""

from collections.abc import Iterator

import pytest

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
