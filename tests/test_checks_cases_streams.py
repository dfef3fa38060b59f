"""What verdict a stream gets: how it ends for its caller, against what the router really sent."""

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import pytest

from fake_router.entries import AnyEntry, Received
from fake_router.forms import DONE, stream_events
from faults.form import Api, Form
from faults.plan import Plan, PlannedOperation
from suites.coding import content_so_far
from suites.events import streamed_in
from suites.findings import Verdict
from suites.history import Arrival, Kind, Outcome
from tests.ledgers import (
    CONTRACTED,
    OP,
    PROXY,
    Case,
    accepted,
    executed,
    explain,
    ok,
    opened,
    received,
    replied,
    replying,
    run,
    said_of,
    served,
    steps,
    striking,
    struck,
)

PASS, UNKNOWN, FAIL = Verdict.PASS, Verdict.UNKNOWN, Verdict.FAIL
STREAM = Form(stream=True)
EVENTS = stream_events(Api.COMPLETIONS, OP, 1, 1)
OTHERS = stream_events(Api.COMPLETIONS, OP + 5, 1, 1)
WHOLE = b"".join(EVENTS) + DONE
PART = b"".join(EVENTS[:3])
ERROR = b'data: {"error":{"message":"lost","type":"result_lost"}}\n\n'
TWICE = {"at-most-once": FAIL, "safe-retry": FAIL}


def streaming(*faults: str) -> Plan:
    """One operation that asks for a stream."""
    return Plan(operations=(PlannedOperation(faults=faults, stream=True),), upstreams=2)


def asked(entries: Sequence[AnyEntry]) -> list[AnyEntry]:
    """The same entries, of requests for a stream."""
    return [msgspec.structs.replace(one, stream=True) if isinstance(one, Received) else one for one in entries]


def got(body: bytes, arrival: Arrival = Arrival.WHOLE, status: int = 200, coding: str = "") -> Outcome:
    """What a caller saw of a stream, with the kind that this means."""
    complete = arrival is Arrival.WHOLE and streamed_in(content_so_far(body, coding), Api.COMPLETIONS).complete
    kind = Kind.OK if complete else Kind.UNKNOWN
    return Outcome(operation=OP, kind=kind, arrival=arrival, form=STREAM, status=status, body=body, coding=coding)


HEALTHY = asked([opened(1), *served(1, 1)])
CUT = asked(
    steps(
        [opened(1), received(1), accepted(1), executed(1, 1), striking("body-chunked-fin", exchange=1), replying(1)],
        [replied(1, whole=False), struck(5)],
    )
)
MISFRAMED = asked(
    steps(
        [opened(1), received(1), accepted(1), executed(1, 1), striking("length-short", exchange=1), replying(1)],
        [replied(1), struck(5)],
    )
)
AGAIN = [opened(2, upstream=1), *asked(served(2, 2, of=2, upstream=1))]
REFUSED_YET_BEGUN = asked(
    steps(
        [opened(1), received(1), accepted(1), executed(1, 1), striking("503-no-workers", exchange=1), replying(1)],
        [replied(1, whole=False), struck(5)],
    )
)

CASES = (
    Case(
        name="a whole stream",
        rule=4,
        run=run(streaming("healthy"), HEALTHY, got(WHOLE)),
        verdict=PASS,
    ),
    Case(
        name="a whole stream through a proxy",
        rule=4,
        run=run(streaming("healthy"), HEALTHY, got(WHOLE), subject=PROXY),
        verdict=PASS,
    ),
    Case(
        name="a mix-up: the events of another operation",
        rule=4,
        run=run(streaming("healthy"), HEALTHY, got(b"".join(OTHERS) + DONE)),
        verdict=FAIL,
        says={"own-result": FAIL},
    ),
    Case(
        name="a mix-up: one event of another operation",
        rule=4,
        run=run(streaming("healthy"), HEALTHY, got(b"".join([*EVENTS[:-2], OTHERS[-2], EVENTS[-1]]) + DONE)),
        verdict=FAIL,
        says={"own-result": FAIL},
    ),
    Case(
        name="an event is lost on the way",
        rule=4,
        run=run(streaming("healthy"), HEALTHY, got(b"".join(EVENTS[1:]) + DONE)),
        verdict=FAIL,
        says={"own-result": FAIL},
    ),
    Case(
        name="a cut stream ends with an error event",
        rule=12,
        run=run(streaming("body-chunked-fin"), CUT, got(PART + ERROR)),
        verdict=PASS,
    ),
    Case(
        name="a cut stream ends with an error event and is cut too",
        rule=12,
        run=run(streaming("body-chunked-fin"), CUT, got(PART + ERROR, Arrival.CUT)),
        verdict=PASS,
    ),
    Case(
        name="a cut stream is cut for its caller",
        rule=12,
        run=run(streaming("body-chunked-fin"), CUT, got(PART, Arrival.CUT)),
        verdict=PASS,
    ),
    Case(
        name="a cut stream is cut for the caller of a proxy, anywhere",
        rule=4,
        run=run(streaming("body-chunked-fin"), CUT, got(PART[:-9], Arrival.CUT), subject=PROXY),
        verdict=PASS,
    ),
    Case(
        name="a cut stream is answered with a failure before its first event",
        rule=12,
        run=run(streaming("body-chunked-fin"), CUT, got(ERROR[6:], status=502)),
        verdict=PASS,
    ),
    Case(
        name="a cut stream ends cleanly",
        rule=12,
        run=run(streaming("body-chunked-fin"), CUT, got(PART)),
        verdict=FAIL,
        says={"no-garbage": FAIL},
    ),
    Case(
        name="a cut stream ends with [DONE]",
        rule=12,
        run=run(streaming("body-chunked-fin"), CUT, got(PART + DONE)),
        verdict=FAIL,
        says={"no-garbage": FAIL},
    ),
    Case(
        name="a cut stream ends with [DONE], and then looks cut: a caller reads no further than [DONE]",
        rule=12,
        run=run(streaming("body-chunked-fin"), CUT, got(PART + DONE, Arrival.CUT)),
        verdict=FAIL,
        says={"no-garbage": FAIL},
    ),
    Case(
        name="a cut stream ends cleanly at a proxy",
        rule=12,
        run=run(streaming("body-chunked-fin"), CUT, got(PART), subject=PROXY),
        verdict=FAIL,
        says={"no-garbage": FAIL},
    ),
    Case(
        name="a proxy adds what the router had not sent",
        rule=4,
        run=run(streaming("body-chunked-fin"), CUT, got(PART + DONE, Arrival.CUT), subject=PROXY),
        verdict=FAIL,
        says={"own-result": FAIL},
    ),
    Case(
        name="a whole stream is cut: there is no deadline on the whole",
        rule=12,
        run=run(streaming("healthy"), HEALTHY, got(PART, Arrival.CUT)),
        verdict=FAIL,
        says={"answered": FAIL},
    ),
    Case(
        name="a whole stream is cut by a proxy",
        rule=12,
        run=run(streaming("healthy"), HEALTHY, got(PART, Arrival.CUT), subject=PROXY),
        verdict=FAIL,
        says={"answered": FAIL},
    ),
    Case(
        name="a whole stream ends with an error event",
        rule=12,
        run=run(streaming("healthy"), HEALTHY, got(PART + ERROR)),
        verdict=FAIL,
        says={"answered": FAIL},
    ),
    Case(
        name="a stream whose length lies was not sent well: nobody has to read it",
        rule=12,
        run=run(streaming("length-short"), MISFRAMED, got(ERROR[6:], status=502)),
        verdict=PASS,
    ),
    Case(
        name="a cut stream is sent again, and its second half is another execution's",
        rule=13,
        run=run(streaming("body-chunked-fin"), [*CUT, *AGAIN], got(WHOLE)),
        verdict=FAIL,
        says={**TWICE, "no-garbage": FAIL},
    ),
    Case(
        name="sent again after the head of a success, on evidence that seems safe",
        rule=13,
        run=run(
            streaming("503-no-workers"),
            [*REFUSED_YET_BEGUN, *AGAIN],
            replace(ok(execution=2), form=STREAM, body=b"".join(stream_events(Api.COMPLETIONS, OP, 2, 1)) + DONE),
            subject=CONTRACTED,
        ),
        verdict=FAIL,
        says={**TWICE, "vacuity": UNKNOWN},
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_stream_gets_its_verdict(case: Case) -> None:
    """Each literal run gets its verdict, and exactly the named checks say something other than PASS."""
    assert said_of(case.run) == (case.verdict, dict(case.says)), explain(case.run)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("sent again after the head of a success, on evidence that seems safe", "head of a success had begun to come"),
        ("a cut stream ends with [DONE]", "expected an error event, or an end that looks cut"),
        ("a whole stream is cut: there is no deadline on the whole", "though the router sent its stream well"),
        ("a mix-up: the events of another operation", "was answered with the result of operation"),
    ],
)
def test_the_finding_says_what_was_wrong(name: str, words: str) -> None:
    """In words that tell it from the others."""
    case = next(case for case in CASES if case.name == name)
    assert words in explain(case.run)
