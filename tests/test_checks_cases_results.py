"""What verdict an answer gets: what the caller holds or is told, against what the router really did."""

from dataclasses import replace

import pytest

from suites.findings import Verdict
from suites.history import Arrival
from tests.answered import BOTH_SERVED, ERROR, HALF, HEALTHY, HTML, TWO, WHOLE, answered_with, cut_by
from tests.ledgers import (
    LIBRARY,
    OP,
    PROXY,
    Case,
    accepted,
    executed,
    explain,
    lost,
    ok,
    planned,
    received,
    replied,
    replying,
    result_body,
    run,
    said_of,
    served,
    steps,
    striking,
    struck,
)

CLIENT = replace(PROXY, called=True)
PASS, UNKNOWN, FAIL = Verdict.PASS, Verdict.UNKNOWN, Verdict.FAIL

CASES = (
    Case(
        name="HTML with 200 is passed on by a proxy as it came",
        rule=4,
        run=run(planned("html-200"), answered_with("html-200"), ok(body=HTML), subject=PROXY),
        verdict=PASS,
    ),
    Case(
        name="garbage as success: HTML with 200 is no valid answer",
        rule=12,
        run=run(planned("html-200"), answered_with("html-200"), ok(body=HTML)),
        verdict=FAIL,
        says={"own-result": FAIL, "no-garbage": FAIL},
    ),
    Case(
        name="garbage as success: a result made up from an empty 200",
        rule=12,
        run=run(
            planned("empty-200"),
            answered_with("empty-200"),
            replace(ok(), arrival=Arrival.RETURNED, tokens=(), text=""),
            subject=LIBRARY,
        ),
        verdict=FAIL,
        says={"own-result": FAIL, "no-garbage": FAIL},
    ),
    Case(
        name="garbage told as a failure",
        rule=12,
        run=run(planned("shape-200"), answered_with("shape-200"), lost(status=502)),
        verdict=PASS,
    ),
    Case(
        name="a cut body is passed on by a proxy, and looks cut",
        rule=12,
        run=run(
            planned("body-length-fin"),
            cut_by("body-length-fin"),
            lost(status=200, arrival=Arrival.CUT, body=HALF),
            subject=PROXY,
        ),
        verdict=PASS,
    ),
    Case(
        name="a cut body is framed anew by a proxy, and looks whole",
        rule=12,
        run=run(planned("body-length-fin"), cut_by("body-length-fin"), ok(body=HALF), subject=PROXY),
        verdict=FAIL,
        says={"no-garbage": FAIL},
    ),
    Case(
        name="all content without its last chunk, passed on as whole",
        rule=12,
        run=run(planned("body-last-chunk-fin"), cut_by("body-last-chunk-fin"), ok(body=WHOLE), subject=PROXY),
        verdict=FAIL,
        says={"no-garbage": FAIL},
    ),
    Case(
        name="all content without its last chunk, taken for an answer",
        rule=12,
        run=run(planned("body-last-chunk-fin"), cut_by("body-last-chunk-fin"), ok()),
        verdict=FAIL,
        says={"no-garbage": FAIL},
    ),
    Case(
        name="what was cut is taken for the answer, though a whole one was sent too",
        rule=12,
        run=run(
            planned("body-last-chunk-fin"),
            [*cut_by("body-last-chunk-fin"), *served(2, 2, of=2)],
            ok(execution=1),
        ),
        verdict=FAIL,
        says={"no-garbage": FAIL, "safe-retry": FAIL, "at-most-once": FAIL},
    ),
    Case(
        name="an empty answer that came whole is no cut one, though one was cut before it",
        rule=4,
        run=run(
            planned("body-length-fin", "empty-200"),
            steps(
                cut_by("body-length-fin"),
                [received(2, of=2), accepted(2), executed(2, 2), striking("empty-200", exchange=2)],
                [replying(2), replied(2), struck(13)],
            ),
            ok(body=b""),
            subject=PROXY,
        ),
        verdict=FAIL,
        says={"safe-retry": FAIL, "at-most-once": FAIL},
    ),
    Case(
        name="a proxy that cuts what it passes on may not alter it",
        rule=4,
        run=run(planned(), HEALTHY, lost(status=200, arrival=Arrival.CUT, body=b"?" + HALF), subject=PROXY),
        verdict=FAIL,
        says={"own-result": FAIL},
    ),
    Case(
        name="a proxy that calls an error a success",
        rule=4,
        run=run(planned("503-after"), answered_with("503-after", 503), ok(body=ERROR), subject=PROXY),
        verdict=FAIL,
        says={"own-result": FAIL},
    ),
    Case(
        name="a proxy that alters bytes",
        rule=4,
        run=run(planned(), HEALTHY, ok(body=WHOLE + b"\n"), subject=PROXY),
        verdict=FAIL,
        says={"own-result": FAIL},
    ),
    Case(
        name="a proxy that loses the end of a whole answer without a trace",
        rule=4,
        run=run(planned(), HEALTHY, ok(body=HALF), subject=PROXY),
        verdict=FAIL,
        says={"own-result": FAIL},
    ),
    Case(
        name="who passes bytes on may hand out an object that was made of them",
        rule=4,
        run=run(planned(), HEALTHY, replace(ok(), arrival=Arrival.RETURNED, body=b""), subject=CLIENT),
        verdict=PASS,
    ),
    Case(
        name="who passes bytes on hands out an object that holds something else",
        rule=4,
        run=run(
            planned(), HEALTHY, replace(ok(), arrival=Arrival.RETURNED, body=b"", tokens=(1,), text=""), subject=CLIENT
        ),
        verdict=FAIL,
        says={"own-result": FAIL},
    ),
    Case(
        name="what a client returns holds the text alone: the token ids were dropped on the way",
        rule=4,
        run=run(planned(), HEALTHY, replace(ok(), arrival=Arrival.RETURNED, body=b"", tokens=None), subject=LIBRARY),
        verdict=PASS,
    ),
    Case(
        name="what a client returns holds another text, and no token ids",
        rule=4,
        run=run(
            planned(),
            HEALTHY,
            replace(ok(), arrival=Arrival.RETURNED, body=b"", tokens=None, text="x"),
            subject=LIBRARY,
        ),
        verdict=FAIL,
        says={"own-result": FAIL},
    ),
    Case(
        name="a client that passes bytes on hands out others",
        rule=4,
        run=run(planned(), HEALTHY, replace(ok(), body=HALF), subject=CLIENT),
        verdict=FAIL,
        says={"own-result": FAIL},
    ),
    Case(
        name="a server may write the same result in other bytes",
        rule=4,
        run=run(planned(), HEALTHY, ok(body=WHOLE.replace(b",", b", "))),
        verdict=PASS,
    ),
    Case(
        name="another operation's bytes: two answers changed places",
        rule=4,
        run=run(TWO, BOTH_SERVED, ok(OP, body=result_body(OP + 1, 2)), ok(OP + 1, body=WHOLE), subject=PROXY),
        verdict=FAIL,
        says={"own-result": FAIL},
    ),
    Case(
        name="a success that the router never executed",
        rule=4,
        run=run(planned(), [], ok()),
        verdict=FAIL,
        says={"own-result": FAIL, "no-garbage": FAIL, "vacuity": UNKNOWN},
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_answer_gets_its_verdict(case: Case) -> None:
    """Each literal run gets its verdict, and exactly the named checks say something other than PASS."""
    assert said_of(case.run) == (case.verdict, dict(case.says)), explain(case.run)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("another operation's bytes: two answers changed places", "was answered with the result of operation 1002"),
        ("a success that the router never executed", "was never executed"),
        ("a proxy that alters bytes", "is not the result of its execution 1"),
        ("garbage as success: HTML with 200 is no valid answer", "is not the result of its execution 1"),
        (
            "garbage as success: HTML with 200 is no valid answer",
            "though the router sent status 200 and 'html' content",
        ),
        ("all content without its last chunk, taken for an answer", "answered as whole with what the router had cut"),
        ("a cut body is framed anew by a proxy, and looks whole", "answered as whole with what the router had cut"),
    ],
)
def test_the_finding_says_what_was_wrong(name: str, words: str) -> None:
    """Each kind of wrong answer has its own sentence."""
    case = next(case for case in CASES if case.name == name)
    assert words in explain(case.run)
