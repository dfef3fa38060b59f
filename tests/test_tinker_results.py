"""What a caller of the Tinker protocol holds, held against what the router made: literal runs with their verdicts."""

import struct
from dataclasses import replace

import msgspec
import pytest

from fake_router.content import logprob_of, result_tokens
from faults.evidence import Marker
from suites.findings import Verdict
from suites.history import Arrival, Heard, Kind, Outcome
from suites.reading import Reply
from suites.tinker.answers import PollAnswer, Submitted, poll_answer
from suites.tinker.ending import outcome_in
from tests.ledgers import FUTURES, OP, Case, explain, planned, run, said_of, served

PASS, FAIL = Verdict.PASS, Verdict.FAIL
CLAIM = Marker(status=200, body='"executed":"no"')


def reply(body: bytes, status: int = 200, media: str = "application/x-protobuf") -> Reply:
    return Reply(arrival=Arrival.WHOLE, status=status, headers=(("content-type", media),), body=body)


def told(body: bytes, status: int = 200) -> PollAnswer:
    return poll_answer(reply(body, status, "application/json"))


def sequence(tokens: list[int], logprobs: list[float]) -> bytes:
    packed = struct.pack(f"<{len(tokens)}i", *tokens), struct.pack(f"<{len(logprobs)}f", *logprobs)
    inner = b"\x12%c%b\x1a%c%b" % (len(packed[0]), packed[0], len(packed[1]), packed[1])
    return b"\x0a%c%b" % (len(inner), inner)


TOKENS = result_tokens(OP, 1, 0)
RESULT = sequence(TOKENS, [logprob_of(token) for token in TOKENS])
SWAPPED = sequence(TOKENS, [logprob_of(token) for token in reversed(TOKENS)])
ANOTHERS = sequence(result_tokens(OP + 1, 1, 0), [logprob_of(token) for token in result_tokens(OP + 1, 1, 0)])


def polled(*bodies: bytes, left: bool = False) -> Outcome:
    """What is believed of the first of these results; each was the answer to a poll."""
    outcome = outcome_in(poll_answer(reply(bodies[0])), OP, (CLAIM,))
    polls = [Heard(poll=True, arrival=Arrival.WHOLE, status=200, body=body) for body in bodies]
    submit = Heard(poll=False, arrival=Arrival.WHOLE, status=200, body=b"{}")
    return replace(outcome, heard=(submit, *polls), left=left, came_back=left)


def retrieved(body: bytes, status: int) -> Outcome:
    """What is believed where this came in place of a result, after its caller had left a poll."""
    return replace(outcome_in(told(body, status), OP, (CLAIM,)), left=True, came_back=True)


HUNG = Outcome(operation=OP, kind=Kind.UNKNOWN, arrival=Arrival.HUNG, left=True, came_back=True)

CASES = (
    Case(name="a result, twice", rule=12, run=run(planned(), served(1, 1), polled(RESULT, RESULT)), verdict=PASS),
    Case(
        name="a result whose logprobs are not those of its tokens",
        rule=4,
        run=run(planned(), served(1, 1), polled(SWAPPED)),
        verdict=FAIL,
        says={"own-result": FAIL},
    ),
    Case(
        name="another's result",
        rule=4,
        run=run(planned(), served(1, 1), polled(ANOTHERS)),
        verdict=FAIL,
        says={"own-result": FAIL},
    ),
    Case(
        name="two sequences for one",
        rule=4,
        run=run(planned(), served(1, 1), polled(RESULT + RESULT)),
        verdict=FAIL,
        says={"own-result": FAIL},
    ),
    Case(
        name="other bytes once it was delivered",
        rule=12,
        run=run(planned(), served(1, 1), polled(RESULT, RESULT + b"\x20\x01")),
        verdict=FAIL,
        says={"retrievable": FAIL},
    ),
    Case(
        name="gone after its poll was abandoned",
        rule=12,
        run=run(planned(), served(1, 1), retrieved(b'{"error":"delivered and evicted"}', 404)),
        verdict=FAIL,
        says={"retrievable": FAIL},
    ),
    Case(
        name="a hang for who came back",
        rule=12,
        run=run(planned(), served(1, 1), HUNG),
        verdict=FAIL,
        says={"answered": FAIL, "retrievable": FAIL},
    ),
    Case(
        name="a failed future that claims of executed work that it was not",
        rule=4,
        run=run(planned(), served(1, 1), retrieved(b'{"error":"no","category":"server","executed":"no"}', 200)),
        verdict=FAIL,
        says={"honest-failure": FAIL, "retrievable": FAIL},
    ),
)


@pytest.mark.parametrize(("ended_ns", "says"), [(50, {}), (150, {"retrievable": FAIL})])
def test_what_the_router_was_asked_for_later_cannot_be_retrieved(ended_ns: int, says: dict[str, Verdict]) -> None:
    """Its caller had been told that it may have run before the request came out of wherever it was held up."""
    told_so = replace(
        retrieved(b'{"error":"no answer in time","category":"server","executed":"unknown"}', 200), ended_at_ns=ended_ns
    )
    late = run(planned(), served(1, 1), told_so)
    ledger = tuple(msgspec.structs.replace(entry, at_ns=100) for entry in late.ledger)
    assert said_of(replace(late, subject=FUTURES, ledger=ledger))[1] == says


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_was_polled_for_gets_its_verdict(case: Case) -> None:
    """Exactly the named checks say something other than PASS, of a subject that promises futures."""
    run_ = replace(case.run, subject=FUTURES)
    assert said_of(run_) == (case.verdict, dict(case.says)), explain(run_)


@pytest.mark.parametrize(
    ("body", "status", "kind"),
    [
        (b'{"error":"no","category":"server","executed":"no"}', 200, Kind.FAILED),
        (b'{"error":"no","category":"server","executed":"unknown"}', 200, Kind.UNKNOWN),
        (b'{"error":"no","executed":"no"}', 404, Kind.UNKNOWN),
        (b'{"executed":"no"}', 422, Kind.UNKNOWN),
    ],
)
def test_a_failure_claims_what_its_subject_file_says_that_it_does(body: bytes, status: int, kind: Kind) -> None:
    """By status and text, as for any other protocol; in whatever form the answer came."""
    assert outcome_in(told(body, status), OP, (CLAIM,)).kind is kind


def test_an_accepted_submit_ends_no_operation() -> None:
    """Its result is polled for."""
    with pytest.raises(ValueError, match="expected an answer that ends an operation"):
        outcome_in(Submitted(request_id="7", reply=reply(b"{}")), OP, ())
