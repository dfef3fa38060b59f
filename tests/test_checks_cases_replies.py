"""What verdict the odder replies get: who holds what nobody asked for, and what can and cannot be known to be wrong."""

from dataclasses import replace

import pytest

from fake_router.entries import AnyEntry
from fake_router.replies import body_of, content_of, foreign_reply
from faults.answer import Answer
from faults.catalogue import fault_named
from faults.plan import Plan, PlannedOperation
from faults.vocabulary import Content
from suites.findings import Verdict
from suites.history import Arrival, Outcome
from tests.answered import HALF, WHOLE, answered_with, cut_by
from tests.ledgers import (
    LIBRARY,
    OP,
    PROXY,
    SERVER,
    Case,
    accepted,
    executed,
    explain,
    lost,
    ok,
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
from tests.ledgers import planned as planned_one

PASS, FAIL = Verdict.PASS, Verdict.FAIL
FOREIGN = body_of(Content.FOREIGN, OP, 1, 1)[1]
NO_TOKENS = body_of(Content.NO_TOKENS, OP, 1, 1)[1]


def _content(fault: str) -> bytes:
    act = fault_named(fault).act
    assert isinstance(act, Answer)
    return content_of(act, OP, 1, 1)


def _followed(fault: str) -> Plan:
    return Plan(operations=(PlannedOperation(faults=(fault,)), PlannedOperation(wave=1)))


def _glued(fault: str) -> list[AnyEntry]:
    """One whole exchange whose fault sends more than it should, and then the next one."""
    struck_one = [received(1), accepted(1), executed(1, 1), striking(fault, exchange=1)]
    return steps(struck_one, [replying(1), replied(1), struck(4)], served(2, 2, OP + 1))


def _foreign(operation: int) -> Outcome:
    return replace(ok(operation, 1, body=FOREIGN), operation=operation)


CASES = (
    *(
        Case(
            name=f"{name} gives the reply that was glued to the first to the next operation",
            rule=4,
            run=run(_followed("glued-reply"), _glued("glued-reply"), ok(), _foreign(OP + 1), subject=subject),
            verdict=FAIL,
            says={"own-result": FAIL},
        )
        for name, subject in (("a proxy", PROXY), ("a server", SERVER))
    ),
    *(
        Case(
            name=f"a {subject.name} puts {what} behind {whose} answer",
            rule=12,
            run=run(_followed("glued-reply"), _glued("glued-reply"), *outcomes, subject=subject),
            verdict=FAIL,
            says={"no-garbage": FAIL},
        )
        for subject in (PROXY, SERVER)
        for what, whose, outcomes in (
            ("another reply", "a whole", (replace(ok(), behind=foreign_reply()), ok(OP + 1, 2))),
            ("a line", "the next whole", (ok(), replace(ok(OP + 1, 2), behind=b"\r\n"))),
            ("another reply", "a failed", (replace(lost(), behind=foreign_reply()), ok(OP + 1, 2))),
        )
    ),
    Case(
        name="the reply that was glued to the first reaches nobody",
        rule=4,
        run=run(_followed("glued-reply"), _glued("glued-reply"), ok(), ok(OP + 1, 2), subject=PROXY),
        verdict=PASS,
    ),
    Case(
        name="a proxy passes on what the router itself sent of another operation",
        rule=4,
        run=run(planned_one("foreign-200"), answered_with("foreign-200"), ok(body=FOREIGN), subject=PROXY),
        verdict=PASS,
    ),
    Case(
        name="a server cannot know that what the router sent is another operation's",
        rule=12,
        run=run(planned_one("foreign-200"), answered_with("foreign-200"), ok(body=FOREIGN)),
        verdict=PASS,
    ),
    Case(
        name="a completion without a token may be one",
        rule=12,
        run=run(planned_one("no-tokens-200"), answered_with("no-tokens-200"), ok(body=NO_TOKENS)),
        verdict=PASS,
    ),
    Case(
        name="a call in process that makes something up where there was no token",
        rule=12,
        run=run(
            planned_one("no-tokens-200"),
            answered_with("no-tokens-200"),
            replace(ok(), arrival=Arrival.RETURNED),
            subject=LIBRARY,
        ),
        verdict=FAIL,
        says={"own-result": FAIL},
    ),
    Case(
        name="half of a body without a length looks whole to a proxy",
        rule=12,
        run=run(planned_one("body-close-fin"), cut_by("body-close-fin"), ok(body=HALF), subject=PROXY),
        verdict=PASS,
    ),
    Case(
        name="half of a body without a length that ended with a reset is passed on as whole",
        rule=12,
        run=run(planned_one("body-close-reset"), cut_by("body-close-reset"), ok(body=HALF), subject=PROXY),
        verdict=FAIL,
        says={"no-garbage": FAIL},
    ),
    Case(
        name="all of a body whose length says more is taken for an answer",
        rule=12,
        run=run(planned_one("length-long-fin"), cut_by("length-long-fin"), ok()),
        verdict=FAIL,
        says={"no-garbage": FAIL},
    ),
    Case(
        name="a head that was cut becomes an empty success",
        rule=12,
        run=run(planned_one("headers-fin"), cut_by("headers-fin"), ok(body=b""), subject=PROXY),
        verdict=FAIL,
        says={"no-garbage": FAIL},
    ),
    Case(
        name="a proxy passes on as much as a short length says",
        rule=4,
        run=run(planned_one("length-short"), answered_with("length-short"), ok(body=HALF), subject=PROXY),
        verdict=PASS,
    ),
    Case(
        name="a proxy passes on more than a short length says",
        rule=4,
        run=run(planned_one("length-short"), answered_with("length-short"), ok(body=WHOLE), subject=PROXY),
        verdict=FAIL,
        says={"own-result": FAIL},
    ),
    Case(
        name="a server takes two choices for the one that was asked for",
        rule=12,
        run=run(
            planned_one("more-choices-200"), answered_with("more-choices-200"), ok(body=_content("more-choices-200"))
        ),
        verdict=FAIL,
        says={"own-result": FAIL, "no-garbage": FAIL},
    ),
    Case(
        name="a server takes an aborted completion for a finished one",
        rule=12,
        run=run(planned_one("aborted-200"), answered_with("aborted-200"), ok()),
        verdict=FAIL,
        says={"no-garbage": FAIL},
    ),
    Case(
        name="a reply that is written wrongly may be read",
        rule=12,
        run=run(planned_one("lengths-differ"), answered_with("lengths-differ"), ok()),
        verdict=PASS,
    ),
    Case(
        name="and it may be refused",
        rule=12,
        run=run(planned_one("lengths-differ"), answered_with("lengths-differ"), lost()),
        verdict=PASS,
    ),
    Case(
        name="success after bytes that were no HTTP",
        rule=4,
        run=run(planned_one("garbage-after"), cut_by("garbage-after"), ok(body=b""), subject=PROXY),
        verdict=FAIL,
        says={"own-result": FAIL},
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_literal_run_gets_its_verdict(case: Case) -> None:
    """And every check that says anything but PASS is named in the case."""
    assert said_of(case.run) == (case.verdict, dict(case.says)), explain(case.run)
