"""The pytest plugin: the suites' options, and the subject that they are run against."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:  # the plugin is loaded in every pytest of its environment: nothing heavy before it is asked for
    from collections.abc import Callable, Generator, Iterator

    from fake_router.thread import RouterThread
    from suites.bench import Bench
    from suites.marked import Marked
    from suites.own_router import OwnRouter
    from suites.under_text import Under

MARKER = "fake_router"
MARKER_SAYS = (
    "fake_router(faults=[...], plan=None, upstreams=1, tls=False, read_timeout_ms=300, may_not_strike=False): what the "
    "fixture fake_router is armed with; what is planned must strike"
)
PROMISES = "promises"
TINKER_SAYS = "tinker: the real Tinker SDK is the caller (pip install 'tinker>=0.25,<0.26')"
MAX_EXAMPLES = 100_000
BENCHES = pytest.StashKey["list[Bench]"]()
ROUTER = pytest.StashKey["OwnRouter"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the suites; they live here alone."""
    group = parser.getgroup("retryproof", "the suites against a forwarder")
    group.addoption(
        "--subject",
        default="reference",
        metavar="SUBJECT",
        help="the forwarder under test: a built-in name (`retryproof subjects`), a TOML file (also with the `url` of "
        "one that runs already), or module:callable (default: reference)",
    )
    group.addoption(
        "--under",
        type=_under,
        default=None,
        metavar="TOXICS",
        help="lay toxics of a real Toxiproxy over everything, as in latency=20,jitter=10, or make one the fault, as "
        "reset_peer (docs/toxiproxy.md)",
    )
    group.addoption(
        "--examples", type=examples, default=50, metavar="N", help="drawn plans for each property (default: 50)"
    )


def examples(text: str) -> int:
    """A type for options. Raises ArgumentTypeError, which pytest prints as wrong usage."""
    if len(text) > 20 or not text.isdecimal() or not 1 <= int(text) <= MAX_EXAMPLES:
        raise argparse.ArgumentTypeError(
            f"{text!r}; expected a whole number from 1 to {MAX_EXAMPLES} (without drawn plans: `-k 'not properties'`)"
        )
    return int(text)


def _under(text: str) -> Under:
    from suites.under_text import UnderError, under_of

    try:
        return under_of(text)
    except UnderError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def pytest_configure(config: pytest.Config) -> None:
    """A place for what the suites print at the end, and the marker."""
    config.stash[BENCHES] = []
    config.addinivalue_line("markers", MARKER_SAYS)
    config.addinivalue_line("markers", TINKER_SAYS)
    config.addinivalue_line("markers", f"{PROMISES}(word): a suite for subjects that promise that")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What the subject does not promise is no part of its examination."""
    asked = {item: marker.args[0] for item in items if (marker := item.get_closest_marker(PROMISES)) is not None}
    if not asked:
        return
    from suites.processes import Supervisor
    from suites.registry import subject_named
    from suites.subject import SubjectError

    try:
        promised = subject_named(config.getoption("--subject"), Supervisor()).spec.facts.promises
    except (ValueError, SubjectError) as error:
        raise pytest.UsageError(str(error)) from None
    others = [item for item, word in asked.items() if word != promised]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if item not in others]


@pytest.fixture(scope="session")
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    """The subject of --subject, ready to live through plans one at a time. Where --under needs a Toxiproxy and there is
    none, what asks for it is skipped.
    """
    yield from _opened(request.config, under=request.config.getoption("--under"))


@pytest.fixture(scope="session")
def toxic_bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    """The same, with a Toxiproxy for plans that are under one. Where there is none, what needs it is skipped."""
    yield from _opened(request.config, toxiproxy=True)


def _opened(config: pytest.Config, *, under: Under | None = None, toxiproxy: bool = False) -> Iterator[Bench]:
    from suites.bench import NO_SKIP, Bench
    from suites.subject import SubjectError
    from suites.toxiproxy.errors import MissingToxiproxyError, ToxiproxyError
    from suites.under_text import NOTHING_OVER

    name, count = config.getoption("--subject"), config.getoption("--examples")
    try:
        with Bench.open(name, count, under or NOTHING_OVER, toxiproxy=toxiproxy, tell=_teller(config)) as opened:
            config.stash[BENCHES].append(opened)
            yield opened
    except (ValueError, SubjectError) as error:
        raise pytest.fail.Exception(f"--subject: {error}", pytrace=False) from None
    except MissingToxiproxyError as error:
        if os.environ.get(NO_SKIP):
            raise pytest.fail.Exception(str(error), pytrace=False) from None
        pytest.skip(str(error))
    except ToxiproxyError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None


def _teller(config: pytest.Config) -> Callable[[str], None]:
    """Tells at the terminal, whatever is captured, that something takes a while."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")

    def tell(step: str) -> None:
        if reporter is not None:  # a worker of pytest-xdist has none
            reporter.ensure_newline()
            reporter.write_line(f"retryproof: {step}")

    return tell


@pytest.fixture(scope="session")
def _fake_router_thread() -> Iterator[RouterThread]:
    """Where the routers of all tests live."""
    from fake_router.thread import RouterThread

    with RouterThread() as threads:
        yield threads


@pytest.fixture
def fake_router(request: pytest.FixtureRequest, _fake_router_thread: RouterThread) -> Iterator[OwnRouter]:
    """A fake router that runs for this test alone, armed as its marker says (docs/pytest.md)."""
    from suites.own_router import OwnRouter

    try:
        own = OwnRouter.start(_marked(request.node), _fake_router_thread)
    except ValueError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None
    request.node.stash[ROUTER] = own
    yield own
    own.close()


def _marked(node: pytest.Item) -> Marked:
    """What the nearest marker says: that of a test comes before that of its class. Raises ValueError."""
    from suites.marked import Marked

    found = list(node.iter_markers_with_node(MARKER))
    nearest = [marker for of, marker in found if of is found[0][0]]
    for marker in nearest:
        if marker.args:
            raise ValueError(f"fake_router{marker.args!r}; expected keywords: {MARKER_SAYS}")
    return Marked.of([marker.kwargs for marker in nearest])


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A marker without the fixture would arm nothing, and nobody would notice."""
    if item.get_closest_marker(MARKER) is not None and "fake_router" not in getattr(item, "fixturenames", ()):
        pytest.fail(f"{item.nodeid} is marked fake_router and does not ask for the fixture fake_router", pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """A test that has passed fails all the same where what it planned has not struck; one that Toxiproxy has failed
    says that, in its one message.
    """
    try:
        result = yield
    except Exception as error:
        if item.config.stash[BENCHES] and _is_toxiproxys(error):
            raise pytest.fail.Exception(str(error), pytrace=False) from None
        raise
    own = item.stash.get(ROUTER, None)
    if own is not None and (missing := own.missing_strikes()):
        pytest.fail(missing, pytrace=False)
    return result


def _is_toxiproxys(error: Exception) -> bool:
    from suites.toxiproxy.errors import ToxiproxyError

    return isinstance(error, ToxiproxyError)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How many examples each property had, how fast, and which faults struck and were judged."""
    from suites.printable import on_one_line

    for opened in terminalreporter.config.stash[BENCHES]:
        for line in opened.summary():
            terminalreporter.write_line(on_one_line(line))
