"""What verdict a stream gets that was lost: all that came of it before must be the beginning of one execution's."""

import re
from dataclasses import replace

import pytest

from fake_router.content import streamed_result
from fake_router.forms import DONE, stream_events
from faults.answer import STREAM_STEPS
from faults.form import Api
from suites.findings import Verdict
from suites.history import Arrival, Kind, Outcome
from tests.answered import answered_with
from tests.ledgers import LIBRARY, OP, PROXY, SERVER, Case, explain, run, said_of
from tests.test_checks_cases_streams import (
    AGAIN,
    CUT,
    ERROR,
    EVENTS,
    HEALTHY,
    OTHERS,
    PART,
    STREAM,
    TWICE,
    WHOLE,
    asked,
    got,
    streaming,
)

PASS, UNKNOWN, FAIL = Verdict.PASS, Verdict.UNKNOWN, Verdict.FAIL
SECOND = stream_events(Api.COMPLETIONS, OP, 2, 1)
WHOLE_RESET = asked(answered_with("whole-reset"))
ERROR_EVENT = asked(answered_with("stream-error-event"))
HTML = b"data: <html><body>It works</body></html>\n\n"
TYPED_ERROR = b'event: error\ndata: {"message":"lost"}\n\n'
NO_OWN, NO_EVENT = {"own-result": FAIL}, {"no-garbage": FAIL}


def _lost(name: str, body: bytes, says: dict[str, Verdict], arrival: Arrival = Arrival.CUT) -> Case:
    """A server passes that on of a stream that was cut behind it."""
    finished = run(streaming("body-chunked-fin"), CUT, got(body, arrival))
    return Case(name=name, rule=4, run=finished, verdict=FAIL if says else PASS, says=says)


def _raised(operation: int, *, steps: int) -> Outcome:
    """What a caller in process has of a stream when the call raises."""
    tokens, text = streamed_result(operation, 1, 0)
    part = tuple(tokens[: steps * (len(tokens) // STREAM_STEPS)]), text[: steps * (len(text) // STREAM_STEPS)]
    lost = Outcome(operation=OP, kind=Kind.UNKNOWN, arrival=Arrival.RETURNED, form=STREAM)
    return replace(lost, tokens=part[0], text=part[1])


def _left(body: bytes) -> Outcome:
    return replace(got(body, Arrival.LEFT), left=True)


def _renumbered(event: bytes) -> bytes:
    return re.sub(rb'"index":0', b'"index":1', event)


CASES = (
    _lost("another operation's events, then a cut", b"".join(OTHERS[:3]), NO_OWN),
    _lost("another operation's events, then an error event", b"".join(OTHERS[:3]) + ERROR, NO_OWN, Arrival.WHOLE),
    _lost("doubled events, then a cut", b"".join(EVENTS[at] for at in (0, 1, 1, 2)), NO_OWN),
    _lost("an event is missing, then a cut", EVENTS[0] + EVENTS[2], NO_OWN),
    _lost("two events changed places, then a cut", EVENTS[1] + EVENTS[0], NO_OWN),
    _lost("the events of a choice that nobody asked for, then a cut", _renumbered(PART), NO_OWN),
    _lost("HTML in an event, then a cut", HTML, NO_EVENT),
    _lost("HTML in an event, then an error event", PART + HTML + ERROR, NO_EVENT, Arrival.WHOLE),
    _lost("the right beginning, then an error event", PART + ERROR, {}, Arrival.WHOLE),
    _lost("the right beginning, then an error by its type", PART + TYPED_ERROR, {}, Arrival.WHOLE),
    _lost("the right beginning, then an error event and anything: a caller reads no further", PART + ERROR + HTML, {}),
    _lost("the right beginning and a part of an event, then a cut", PART + EVENTS[3][:-9], {}),
    _lost("nothing but the head, then a cut", b"", {}),
    Case(
        name="a stream that had begun is sent again from its first event, then an error event",
        rule=4,
        run=run(streaming("body-chunked-fin"), [*CUT, *AGAIN], got(PART + b"".join(SECOND[:2]) + ERROR)),
        verdict=FAIL,
        says={**TWICE, **NO_OWN, "answered": FAIL},
    ),
    Case(
        name="a stream that had begun is sent again and goes on where it was, then a cut",
        rule=4,
        run=run(streaming("body-chunked-fin"), [*CUT, *AGAIN], got(PART + SECOND[3], Arrival.CUT)),
        verdict=FAIL,
        says={**TWICE, **NO_OWN, "answered": FAIL},
    ),
    Case(
        name="an error event becomes a clean end",
        rule=12,
        run=run(streaming("stream-error-event"), ERROR_EVENT, got(PART + DONE)),
        verdict=FAIL,
        says=NO_EVENT,
    ),
    Case(
        name="the beginning of a whole stream, then [DONE]",
        rule=12,
        run=run(streaming("whole-reset"), WHOLE_RESET, got(PART + DONE)),
        verdict=FAIL,
        says=NO_EVENT,
    ),
    Case(
        name="a whole stream is passed on to its last event, and then looks cut",
        rule=12,
        run=run(streaming("whole-reset"), WHOLE_RESET, got(WHOLE, Arrival.CUT)),
        verdict=PASS,
    ),
    Case(
        name="[DONE] though nothing was ever sent",
        rule=12,
        run=run(streaming("healthy"), [], got(DONE)),
        verdict=FAIL,
        says={**NO_EVENT, "vacuity": UNKNOWN},
    ),
    *(
        Case(
            name=f"{whose} events, to a caller of a {subject.name} that then leaves",
            rule=4,
            run=run(streaming("healthy"), HEALTHY, _left(b"".join(events)), subject=subject),
            verdict=FAIL if says else PASS,
            says=says,
        )
        for subject in (SERVER, PROXY)
        for whose, events, says in (("its own", EVENTS[:2], {}), ("another operation's", OTHERS[:2], NO_OWN))
    ),
    *(
        Case(
            name=f"{whose} events, to a caller in process whose call then raises",
            rule=4,
            run=run(streaming("body-chunked-fin"), CUT, _raised(operation, steps=2), subject=LIBRARY),
            verdict=FAIL if says else PASS,
            says=says,
        )
        for whose, operation, says in (("its own", OP, {}), ("another operation's", OP + 5, NO_OWN))
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_part_of_a_stream_gets_its_verdict(case: Case) -> None:
    """Each literal run gets its verdict, and exactly the named checks say something other than PASS."""
    assert said_of(case.run) == (case.verdict, dict(case.says)), explain(case.run)
