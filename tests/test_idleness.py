"""A subject that is asked what is in flight inside it answers a number, or is told what was expected."""

from dataclasses import replace

import pytest

from suites.checks.vacuity import vacuity
from suites.endpoint import Endpoint
from suites.findings import Verdict
from suites.history import Arrival
from suites.idleness import Idleness
from suites.reading import Reply
from suites.settling import last_words
from suites.subject import SubjectError, Telling
from tests.answered import HEALTHY
from tests.ledgers import ok, planned, run


class _Answers(Endpoint):
    """Whatever is asked."""

    reply = Reply(arrival=Arrival.WHOLE)

    async def get(self, target: str, ceiling_ms: int) -> Reply:
        assert (target, ceiling_ms) == ("/idle", 5)
        return self.reply


def asked(body: bytes = b"", status: int | None = 200, arrival: Arrival = Arrival.WHOLE, says: str = "") -> Idleness:
    """One that answers so."""
    endpoint = type("_", (_Answers,), {"reply": Reply(arrival=arrival, status=status, body=body, says=says)})
    return Idleness(endpoint=endpoint(address=("h", 1)), path="/idle", within_ms=5)


async def test_a_number_is_an_answer() -> None:
    """Whatever it is; nothing in flight is idle."""
    idle, busy = asked(b'{"in_flight": 0}'), asked(b'{"in_flight": 2, "more": 1}')
    await idle.require("mine")
    await busy.require("mine")
    assert (await idle.ask(), idle.says) == (True, "")
    assert (await busy.ask(), busy.says) == (False, "asked at '/idle' it said that 2 are in flight")


@pytest.mark.parametrize(
    ("idleness", "says"),
    [
        (asked(b"<html>", 404), "answered 404 with b'<html>'"),
        (asked(b"{}"), "answered 200 with b'{}'"),
        (asked(b"[" * 100_000), "answered 200 with b'[["),
        (asked(b"\xff"), r"answered 200 with b'\xff'"),
        (asked(b'{"in_flight": "0"}'), "answered 200 with"),
        (asked(b'{"in_flight": false}'), "answered 200 with"),
        (asked(b'{"in_flight": -1}'), "answered 200 with"),
        (asked(b'{"in_flight": 0}', arrival=Arrival.CUT, says="EOF"), "gave no whole answer (EOF)"),
        (asked(status=None, arrival=Arrival.NOTHING), "gave no whole answer (nothing)"),
    ],
)
async def test_what_is_no_number_is_refused_in_words(idleness: Idleness, says: str) -> None:
    """And it is not idle."""
    assert await idleness.ask() is False
    with pytest.raises(SubjectError) as raised:
        await idleness.require("mine")
    assert f"mine: asked at '/idle' what is in flight it {says}" in str(raised.value)
    assert "as JSON, with N a number from 0; correct `idle`, or say `quiet_ms` instead of it" in str(raised.value)
    assert len(str(raised.value)) < 400


def test_a_run_that_had_not_settled_says_what_it_was_told() -> None:
    """So that a wrong path is seen in the finding."""
    assert isinstance(_Told(), Telling)
    unsettled = replace(run(planned(), HEALTHY, ok(), settled=False), busy=last_words(_Told()))
    (finding,) = [found for found in vacuity(unsettled) if "settled" in found.says]
    assert finding.verdict is Verdict.UNKNOWN
    assert finding.says == "the run had not settled when its ceiling ended it (asked at '/idle' it ...)"


class _Told:
    """An instance, as far as it is looked at here."""

    idleness = Idleness(endpoint=Endpoint(address=("h", 1)), path="/idle", within_ms=5, says="asked at '/idle' it ...")
