"""The fixture `fake_router` and its marker: what is planned must strike, or the test fails and says why."""

from argparse import ArgumentTypeError

import pytest

from suites.plugin import examples

pytest_plugins = ["pytester"]

CLIENT = """
import http.client, json
def send(router, number, upstream=0):
    host, _, port = router.urls[upstream].removeprefix("http://").partition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=5)
    try:
        connection.request("POST", "/v1/completions", json.dumps(router.request_for(number)))
        return connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        return type(error).__name__
    finally:
        connection.close()
"""
TESTS = """
import pytest
from client import send
from faults.plan import Plan, PlannedOperation
marked = pytest.mark.fake_router

@marked(faults=["503-after"])
def test_passes_when_met(fake_router):
    assert (send(fake_router, 1), fake_router.executions(1), fake_router.attempts) == (503, 1, 1)
    assert fake_router.url == fake_router.urls[0]

@marked(faults=["503-after"])
def test_fails_when_not_met(fake_router):
    assert send(fake_router, 2) == 200

@marked(faults=["503-after"], may_not_strike=True)
def test_passes_when_it_need_not_be_met(fake_router):
    assert send(fake_router, 2) == 200

@marked(faults=["503-after"])
def test_fails_by_itself(fake_router):
    assert "its own reason" == ""

@marked(faults=["503-before", "reset-after"])
def test_passes_when_a_later_fault_is_not_reached(fake_router):
    assert send(fake_router, 1) == 503

@marked(faults=["503-before", "reset-after"])
def test_passes_when_both_are_met(fake_router):
    assert [send(fake_router, 1) for _ in range(3)] == [503, "ConnectionResetError", 200]
    assert (fake_router.attempts, fake_router.executions(1)) == (3, 2)

@marked(faults=["accept-reset"], upstreams=2)
def test_passes_when_a_listener_was_met(fake_router):
    send(fake_router, 1, upstream=1)
    fake_router.heal()
    assert send(fake_router, 1) == 200

@marked(faults=["unread-reset"])
def test_fails_when_a_listener_was_not_met(fake_router):
    pass

@marked(plan=Plan(operations=(PlannedOperation(faults=("500-before",)), PlannedOperation(faults=("502-after",)))))
class TestPlan:
    def test_passes_when_all_of_a_plan_is_met(self, fake_router):
        assert [send(fake_router, number) for number in (1, 2)] == [500, 502]

    def test_fails_when_half_of_a_plan_is_met(self, fake_router):
        assert send(fake_router, 1) == 500

def test_fails_when_armed_later_and_not_met(fake_router):
    assert list(fake_router.arm("503-before")) == [1]
    assert list(fake_router.arm("504-before")) == [2]
    assert send(fake_router, 1) == 503

def test_passes_unmarked(fake_router):
    assert send(fake_router, 1) == 200
    assert len(fake_router.ledger) > 4
    assert fake_router.prompt_for(3)[1] == 3

@pytest.mark.asyncio
@marked(faults=["503-before"])
async def test_passes_in_an_async_test(fake_router):
    import asyncio
    assert await asyncio.to_thread(send, fake_router, 1) == 503

@pytest.mark.xfail(strict=True)
@marked(faults=["503-after"])
def test_xfails_when_not_met(fake_router):
    pass
"""
WRONG = """
import pytest
marked = pytest.mark.fake_router

@marked(faults=["503-after"])
def test_without_the_fixture():
    pass

@marked("503-after")
def test_positional(fake_router):
    pass

@marked(fault=["503-after"])
def test_unknown_keyword(fake_router):
    pass

@marked(faults="503-after")
def test_no_list(fake_router):
    pass

@marked(faults=["503-after"])
@marked(upstreams=2)
def test_two_markers(fake_router):
    pass

@marked(faults=["503-sideways"])
def test_unknown_fault(fake_router):
    pass

def test_nothing_armed(fake_router):
    fake_router.arm()
"""


@pytest.fixture(autouse=True)
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """With strict markers, warnings that are errors, and a summary that is cut alike everywhere.

    Where `CI` or `BUILD_NUMBER` is set pytest prints whole reasons a second time, in its summary.
    """
    for name in ("CI", "BUILD_NUMBER"):
        monkeypatch.delenv(name, raising=False)
    pytester.makepyfile(client=CLIENT)
    pytester.makeini(
        "[pytest]\naddopts = --strict-markers --strict-config -p no:cacheprovider\nfilterwarnings = error\n"
        "asyncio_default_fixture_loop_scope = function\n"
    )


def test_a_test_passes_only_where_what_it_planned_was_met(pytester: pytest.Pytester) -> None:
    """Sync and async; a test that fails by itself says its own reason alone."""
    pytester.makepyfile(test_own=TESTS)
    result = pytester.runpytest_subprocess("-rA")
    outcomes = result.parseoutcomes()
    assert outcomes == {"passed": 8, "failed": 5, "xfailed": 1}
    names = {line.split("::")[-1].split()[0] for line in result.outlines if line.startswith("FAILED ")}
    assert all(name.startswith("test_fails") for name in names)
    text = result.stdout.str()
    assert "operation 1: no exchange was made, so '503-after' did not strike" in text
    assert "operation 2: no exchange was made, so '502-after' did not strike" in text
    assert "operation 2: no exchange was made, so '504-before' did not strike" in text
    assert "'unread-reset' did not strike on any upstream" in text
    assert "may_not_strike=True" in text
    assert text.count("fake_router: what was planned was not met") == 4, "not beside its own reason"


def test_a_marker_that_arms_nothing_is_refused(pytester: pytest.Pytester) -> None:
    """In words that say what was expected."""
    pytester.makepyfile(test_wrong=WRONG)
    result = pytester.runpytest_subprocess("-rA")
    text = result.stdout.str()
    assert result.parseoutcomes() == {"failed": 1, "errors": 6}
    for says in (
        "is marked fake_router and does not ask for the fixture",
        "fake_router('503-after',); expected keywords: fake_router(faults=",
        "fake_router has no 'fault'; expected some of faults, ",
        "two markers fake_router on one test, fake_router(upstreams=2) and fake_router(faults=['503-after']); expected",
        "faults is '503-after'; expected a list of fault ids",
        "fault '503-sideways' is not in the catalogue; ",
        "arm(); expected ids of faults, or one Plan",
    ):
        assert says in text
    assert "another exception" not in text


def test_the_marker_is_explained(pytester: pytest.Pytester) -> None:
    """By pytest itself."""
    result = pytester.runpytest_subprocess("--markers")
    assert "@pytest.mark.fake_router(faults=[...], plan=None, upstreams=1, tls=False" in result.stdout.str()


@pytest.mark.parametrize("number", ["0", "-1", "9" * 5000])
def test_a_number_of_examples_that_is_none_is_wrong_usage(number: str) -> None:
    """Hypothesis would fail in every property instead."""
    with pytest.raises(ArgumentTypeError, match="expected a whole number from 1 to 100000"):
        examples(number)
    assert examples("7") == 7
