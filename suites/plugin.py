"""The pytest plugin: the suites' options, and the subject that they are run against."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:  # the plugin is loaded in every pytest of its environment: nothing heavy before it is asked for
    from collections.abc import Iterator

    from suites.bench import Bench

BENCHES = pytest.StashKey["list[Bench]"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the suites; they live here alone."""
    group = parser.getgroup("retryproof", "the suites against a forwarder")
    group.addoption(
        "--subject",
        default="reference",
        metavar="SUBJECT",
        help="the forwarder under test: a built-in name (`retryproof subjects`) or a TOML file (default: reference)",
    )
    group.addoption("--examples", type=int, default=50, metavar="N", help="drawn plans for each property (default: 50)")


def pytest_configure(config: pytest.Config) -> None:
    """A place for what the suites print at the end."""
    config.stash[BENCHES] = []


@pytest.fixture(scope="session")
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    """The subject of --subject, ready to live through plans one at a time."""
    from suites.bench import Bench

    with Bench.open(request.config.getoption("--subject"), request.config.getoption("--examples")) as opened:
        request.config.stash[BENCHES].append(opened)
        yield opened


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How many examples each property had, how fast, and which faults struck and were judged."""
    for opened in terminalreporter.config.stash[BENCHES]:
        for line in opened.summary():
            terminalreporter.write_line(line)
