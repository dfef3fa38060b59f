"""What tests share: tables at full width, one server of the real Toxiproxy for all; and who runs those of a large
package.
"""

from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from suites.tinker_sdk.process import missing
from tests.command_process import Place
from tests.real_toxiproxy import RealToxiproxy, real_toxiproxy


@pytest.fixture(autouse=True)
def _full_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some that run tests set COLUMNS, and tables are as narrow as it says."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture(scope="session")
def _server() -> Iterator[RealToxiproxy]:
    with real_toxiproxy() as real:
        yield real


@pytest.fixture
def real(_server: RealToxiproxy) -> Iterator[RealToxiproxy]:
    """The server of this session, without the sockets of other tests."""
    yield _server
    _server.close_sockets()


@pytest.hookimpl(tryfirst=True)  # before a choice by markers is made
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Those of whole commands are marked as such. The SDK, the driver of a browser and
    Ray are large packages that most environments go without: what is about them is run where they are there. tox has an
    environment for each.
    """
    for item in items:
        if _runs_commands(item):
            item.add_marker(pytest.mark.command)
    absent = {
        "tinker": missing() is not None,
        "browser": find_spec("playwright") is None,
        "docker": find_spec("docker") is None,
        "ray": find_spec("ray") is None,
    }
    about = [item for item in items if any(absent[mark] and item.get_closest_marker(mark) for mark in absent)]
    config.hook.pytest_deselected(items=about)
    items[:] = [item for item in items if item not in about]


def _runs_commands(item: pytest.Item) -> bool:
    """It is in a file of such tests, or is given a folder to run the command in."""
    if not isinstance(item, pytest.Function):
        return False
    in_a_place = "place" in item.fixturenames and vars(item.module).get("Place") is Place
    return in_a_place or item.path.name.startswith("test_command_")
