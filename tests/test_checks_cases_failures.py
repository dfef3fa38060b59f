"""What verdict a failure gets, an answer that never comes, and a subject that does not recover."""

from dataclasses import replace

import pytest

from suites.findings import Verdict
from suites.history import Arrival
from suites.run import Sockets
from tests.answered import HEALTHY, UNREAD_LATE, answered_with
from tests.ledgers import (
    CONTRACTED,
    FRESH,
    PROXY,
    SERVER,
    Case,
    explain,
    failed,
    held,
    hung,
    lost,
    ok,
    planned,
    received,
    replied,
    replying,
    run,
    said_of,
    steps,
    striking,
    struck,
)

PASS, UNKNOWN, FAIL = Verdict.PASS, Verdict.UNKNOWN, Verdict.FAIL

CASES = (
    Case(
        name="a lie about a failure: not executed, it says of what was executed",
        rule=4,
        run=run(planned("503-after"), answered_with("503-after", 503), failed()),
        verdict=FAIL,
        says={"honest-failure": FAIL},
    ),
    Case(
        name="a lie that a late entry proves: not executed, it said before it was",
        rule=9,
        run=run(held("unread-late"), UNREAD_LATE, failed()),
        verdict=FAIL,
        says={"honest-failure": FAIL},
    ),
    Case(
        name="a bare 503 claims nothing",
        rule=4,
        run=run(planned("503-after"), answered_with("503-after", 503), lost(status=503), subject=PROXY),
        verdict=PASS,
    ),
    Case(
        name="an honest failure",
        rule=4,
        run=run(
            planned("503-no-workers", "503-no-workers"),
            steps(
                [received(1), striking("503-no-workers", exchange=1), replying(1, 503), replied(1), struck(2)],
                [received(2, of=2), striking("503-no-workers", exchange=2), replying(2, 503), replied(2), struck(7)],
            ),
            failed(),
            subject=CONTRACTED,
        ),
        verdict=PASS,
    ),
    Case(
        name="hang of a subject that promises an answer",
        rule=9,
        run=run(planned(), HEALTHY, hung(), settled=False),
        verdict=FAIL,
        says={"answered": FAIL, "vacuity": UNKNOWN},
    ),
    Case(
        name="hang of a proxy",
        rule=9,
        run=run(planned(), HEALTHY, hung(), subject=PROXY),
        verdict=UNKNOWN,
        says={"answered": UNKNOWN},
    ),
    Case(
        name="a connection dropped in place of an answer",
        rule=12,
        run=run(planned(), HEALTHY, lost(status=None, arrival=Arrival.NOTHING)),
        verdict=FAIL,
        says={"answered": FAIL},
    ),
    Case(
        name="dead pool after healing",
        rule=5,
        run=replace(run(planned(), HEALTHY, ok()), history=(ok(), lost(FRESH))),
        verdict=FAIL,
        says={"heals": FAIL},
    ),
    Case(
        name="sockets left behind",
        rule=5,
        run=replace(run(planned(), HEALTHY, ok()), sockets=Sockets(warm=2, healed=3)),
        verdict=FAIL,
        says={"no-leak": FAIL},
    ),
    Case(
        name="sockets that grow each time",
        rule=5,
        run=replace(run(planned(), HEALTHY, ok()), sockets=Sockets(warm=2, healed=3, again=(3, 4))),
        verdict=FAIL,
        says={"no-leak": FAIL},
    ),
    Case(
        name="sockets of a second pool, which do not grow",
        rule=5,
        run=replace(run(planned(), HEALTHY, ok()), sockets=Sockets(warm=2, healed=3, again=(3, 2))),
        verdict=PASS,
        says={},
    ),
    Case(
        name="sockets that nobody counted after healing",
        rule=5,
        run=replace(run(planned(), HEALTHY, ok()), sockets=Sockets(warm=2)),
        verdict=UNKNOWN,
        says={"no-leak": UNKNOWN},
    ),
    Case(
        name="sockets without a healthy count to hold them against",
        rule=5,
        run=replace(run(planned(), HEALTHY, ok()), sockets=Sockets(healed=2)),
        verdict=UNKNOWN,
        says={"no-leak": UNKNOWN},
    ),
    Case(
        name="a subject that the fault killed",
        rule=10,
        run=run(planned("html-200"), answered_with("html-200"), lost(), subject=SERVER, died="signal 11"),
        verdict=FAIL,
        says={"survives": FAIL},
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_failure_gets_its_verdict(case: Case) -> None:
    """Each literal run gets its verdict, and exactly the named checks say something other than PASS."""
    assert said_of(case.run) == (case.verdict, dict(case.says)), explain(case.run)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("dead pool after healing", "fresh operation 2001 ended 'unknown' with status 502 (whole)"),
        ("hang of a proxy", "no answer before the run's ceiling, which the subject does not promise"),
        (
            "a lie about a failure: not executed, it says of what was executed",
            "was accepted: attempt 1 on upstream 0 (3,)",
        ),
        ("sockets left behind", "3 sockets after healing, 2 after a healthy warm-up"),
    ],
)
def test_the_finding_says_what_the_caller_was_left_with(name: str, words: str) -> None:
    """Each kind of failure has its own sentence."""
    case = next(case for case in CASES if case.name == name)
    assert words in explain(case.run)
