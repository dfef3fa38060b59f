"""What reached the router is held against what was sent, as strictly as the subject promises."""

import json
from dataclasses import replace

import pytest

from fake_router.digest import digest_of_body, digest_of_content
from fake_router.entries import EndedBy, Received
from faults.form import Api, Form
from faults.plan import PlannedOperation
from suites.checks.intact_request import CHECK
from suites.findings import Proof, Verdict
from suites.run import Run, SubjectFacts
from suites.sent import Sent, sent_body, sent_content
from suites.workload import completion_request
from tests.ledgers import (
    OP,
    PROXY,
    SERVER,
    closed,
    lost,
    ok,
    opened,
    planned,
    received,
    rejected,
    run,
    served,
    unserved,
)
from tests.router_client import dial, request, staged

CONTENT, BODY = 1, 2
SENT = Sent(content=CONTENT, body=BODY)
ANEW = replace(PROXY, rewrites=True)


def _run(subject: SubjectFacts, sent: Sent | None, *digests: tuple[int, int]) -> Run:
    entries = [opened(1), *(received(n, of=n, digests=pair) for n, pair in enumerate(digests, start=1))]
    return run(planned(), entries, replace(lost(), sent=sent), subject=subject)


@pytest.mark.parametrize("subject", [PROXY, SERVER, ANEW], ids=["transparent", "answering", "rewrites"])
@pytest.mark.parametrize(
    ("sent", "digests", "fails"),
    [
        (SENT, [(CONTENT, BODY)], ([], [])),
        (SENT, [(9, BODY)], (["asks about"], ["asks about"])),
        (SENT, [(CONTENT, 9)], (["the bytes"], [])),
        (SENT, [(CONTENT, BODY), (9, 9)], (["asks about"], ["asks about"])),
        (None, [(CONTENT, BODY), (CONTENT, BODY)], ([], [])),
        (None, [(CONTENT, BODY), (9, BODY)], (["asks about"], ["asks about"])),
        (None, [(CONTENT, BODY), (CONTENT, 9)], (["the bytes"], [])),
        (Sent(content=CONTENT), [(CONTENT, BODY), (CONTENT, 9)], (["the bytes"], [])),
        (Sent(content=None, body=BODY), [(CONTENT, BODY), (9, BODY)], (["asks about"], ["asks about"])),
    ],
)
def test_each_attempt_is_held_against_what_was_sent_or_the_first(
    subject: SubjectFacts, sent: Sent | None, digests: list[tuple[int, int]], fails: tuple[list[str], list[str]]
) -> None:
    """A transparent subject passes the bytes on; one that answers, or says so, may write its JSON anew."""
    findings = CHECK.judge(_run(subject, sent, *digests))
    expected = fails[0] if subject is PROXY else fails[1]
    found = [finding for finding in findings if finding.verdict is Verdict.FAIL]
    assert [part in finding.says for finding, part in zip(found, expected, strict=True)] == [True] * len(expected)
    assert found or [finding.verdict for finding in findings] == [Verdict.PASS]


def test_another_form_than_was_asked_for_is_held_against_the_first_attempt() -> None:
    """A subject that asks its router in other words is compared with itself alone."""
    sent = replace(ok(), sent=SENT, form=Form(api=Api.CHAT))
    entries = [opened(1), *(received(n, of=n, digests=(7, 8)) for n in (1, 2))]
    (finding,) = CHECK.judge(run(planned(), entries, sent, subject=SERVER))
    assert finding.verdict is Verdict.PASS


def test_a_run_in_which_nothing_was_read_says_nothing() -> None:
    """Bytes that lie unread are no request yet."""
    assert CHECK.judge(run(planned(), [opened(1)], lost())) == []


@pytest.mark.parametrize("form", [Form(api=api, stream=stream) for api in Api for stream in (False, True)], ids=str)
@pytest.mark.parametrize("body_bytes", [0, 100_000])
def test_the_router_sees_the_digests_of_what_is_sent(form: Form, body_bytes: int) -> None:
    """However its JSON is written; and padding is part of the content."""
    asked = completion_request(OP, form, body_bytes)
    body = json.dumps(asked, indent=1).encode()
    assert len(body) >= body_bytes
    with staged() as stage:
        dial(stage.port, request(body, target=form.api.path))
        (entry,) = stage.of(Received)
    assert (entry.body_bytes, entry.operation) == (len(body), OP)
    assert Sent(content=entry.content_digest, body=entry.body_digest) == sent_body(body)
    assert entry.content_digest == sent_content(asked).content
    assert entry.content_digest != sent_content(completion_request(OP, form, body_bytes + 11)).content


def test_work_that_carries_no_operation_costs_no_digest() -> None:
    """Load tools send it by the million."""
    with staged() as stage:
        dial(stage.port, request(b'{"prompt": "Say hello"}'))
        (entry,) = stage.of(Received)
    assert (entry.body_digest, entry.content_digest) == (None, None)


def test_digests_tell_what_differs() -> None:
    """A token that is lost, doubled or moved; and of bytes, how they are written."""
    assert len({digest_of_content(tokens) for tokens in ([1, 2, 3], [1, 3], [1, 2, 2, 3], [1, 3, 2])}) == 4
    assert digest_of_content({"a": 1, "b": 2}) == digest_of_content({"b": 2, "a": 1})
    assert digest_of_body(b"[1,2]") != digest_of_body(b"[1, 2]")


def test_a_planned_body_has_at_least_so_many_bytes() -> None:
    """As dense as JSON gets."""
    for body_bytes in (0, 1, 65_536, 2_097_152):
        planned_operation = PlannedOperation(body_bytes=body_bytes)
        asked = completion_request(OP, planned_operation.form, planned_operation.body_bytes)
        size = len(json.dumps(asked, separators=(",", ":")))
        assert body_bytes <= size <= body_bytes + 300


def test_a_body_that_was_not_sent_before_its_sender_gave_up_must_come_back_alone() -> None:
    """Whoever was held up waits for its 100 until its time is over, and ends the connection just so."""
    first = [opened(1), *served(1, 1), opened(2, 1), unserved(2, None, 1, body_bytes=0)]
    (found,) = CHECK.judge(run(planned(), [*first, closed(2, EndedBy.PEER)], lost()))
    assert (found.verdict, found.proof) == (Verdict.FAIL, Proof.CAUSE)
    rejection = [*first[:-1], rejected(2, body_bytes=0), closed(2, EndedBy.PEER)]
    (found,) = CHECK.judge(run(planned(), rejection, lost()))
    assert (found.verdict, found.proof) == (Verdict.FAIL, Proof.LEDGER)
