"""What came of a lost stream, cut at any byte and spoilt in any event: no false FAIL, and no false PASS."""

from collections.abc import Callable, Sequence

import msgspec
import pytest

from fake_router.entries import Received
from fake_router.forms import DONE, stream_events
from faults.form import Api, Form
from faults.plan import Plan, PlannedOperation
from suites.checks import no_garbage, own_result
from suites.findings import Verdict, worst
from suites.history import Arrival, Kind, Outcome
from suites.run import Run, SubjectFacts
from tests.ledgers import OP, PROXY, SERVER, opened, run, served

ERROR = b'data: {"error":{"message":"lost"}}\n\n'


def _lost(body: bytes, api: Api, subject: SubjectFacts) -> Run:
    """The router sent all of it, and the subject's caller has that."""
    entries = [opened(1), *served(1, 1)]
    asked = [msgspec.structs.replace(e, stream=True, api=api) if isinstance(e, Received) else e for e in entries]
    plan = Plan(operations=(PlannedOperation(faults=("healthy",), stream=True, api=api),), upstreams=2)
    form = Form(api=api, stream=True)
    outcome = Outcome(operation=OP, kind=Kind.UNKNOWN, arrival=Arrival.CUT, form=form, status=200, body=body)
    return run(plan, asked, outcome, subject=subject)


def _verdict(lived: Run) -> Verdict:
    """Of the two checks that look at what has come."""
    return worst([finding for check in (own_result, no_garbage) for finding in check.CHECK.judge(lived)])


@pytest.mark.parametrize("subject", [SERVER, PROXY], ids=lambda subject: subject.name)
@pytest.mark.parametrize("api", Api)
def test_a_stream_that_is_cut_at_any_byte_is_the_beginning_of_itself(api: Api, subject: SubjectFacts) -> None:
    """Inside a line, between CR and LF, behind [DONE]: in its first event, and in what lies behind its last but one."""
    events = stream_events(api, OP, 1, 1)
    end = b"\r\n" if subject is SERVER else b"\n"
    body = (b"".join(events) + DONE).replace(b"\n", end)
    tail = len((events[-1] + DONE).replace(b"\n", end))
    places = [*range(len(events[0])), *range(len(body) - tail, len(body) + 1)]
    judged = {at: _verdict(_lost(body[:at], api, subject)) for at in places}
    assert {at for at, verdict in judged.items() if verdict is not Verdict.PASS} == set()


def _without(events: Sequence[bytes], at: int, _: bytes) -> list[bytes]:
    return [*events[:at], *events[at + 1 :]]


def _twice(events: Sequence[bytes], at: int, _: bytes) -> list[bytes]:
    return [*events[: at + 1], *events[at:]]


def _swapped(events: Sequence[bytes], at: int, _: bytes) -> list[bytes]:
    return [*events[:at], events[at + 1], events[at], *events[at + 2 :]]


def _anothers(events: Sequence[bytes], at: int, other: bytes) -> list[bytes]:
    return [*events[:at], other, *events[at + 1 :]]


def _html(events: Sequence[bytes], at: int, _: bytes) -> list[bytes]:
    return [*events[:at], b"data: <html>\n\n", *events[at + 1 :]]


@pytest.mark.parametrize("subject", [SERVER, PROXY], ids=lambda subject: subject.name)
@pytest.mark.parametrize("spoil", [_without, _twice, _swapped, _anothers, _html])
@pytest.mark.parametrize("api", Api)
def test_one_event_that_is_spoilt_fails_wherever_it_is(
    api: Api, spoil: Callable[[Sequence[bytes], int, bytes], list[bytes]], subject: SubjectFacts
) -> None:
    """Whether the stream is then cut, or ends with an error event."""
    events = stream_events(api, OP, 1, 1)
    for other in (stream_events(api, OP + 5, 1, 1), stream_events(api, OP, 2, 1)):
        for at in range(len(events) - 1):
            body = b"".join(spoil(events, at, other[at]))
            assert _verdict(_lost(body, api, subject)) is Verdict.FAIL
            assert _verdict(_lost(body + ERROR, api, subject)) is Verdict.FAIL
