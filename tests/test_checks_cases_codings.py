"""What verdict an answer gets whose content comes in a coding, or is said to."""

import gzip
from dataclasses import replace

import pytest

from fake_router.replies import content_of
from faults.answer import Answer
from faults.catalogue import fault_named
from suites.coding import coding_in, content_in, content_so_far
from suites.findings import Verdict
from suites.history import Arrival, Outcome
from suites.run import SubjectFacts
from tests.answered import HALF, HEALTHY, WHOLE, answered_with, cut_by
from tests.ledgers import OP, PROXY, SERVER, Case, explain, lost, ok, planned, run, said_of
from tests.test_checks_cases_streams import CUT, PART, got, streaming
from tests.test_checks_cases_streams import HEALTHY as STREAMED
from tests.test_checks_cases_streams import WHOLE as STREAM

PASS, FAIL = Verdict.PASS, Verdict.FAIL
OTHERS, GARBAGE = {"own-result": FAIL}, {"own-result": FAIL, "no-garbage": FAIL}


def _sent(fault: str) -> bytes:
    """The content of its reply, in its coding."""
    act = fault_named(fault).act
    assert isinstance(act, Answer)
    return content_of(act, OP, 1, 1)


GZIP = _sent("gzip")
PART_OF_GZIP = GZIP[: len(GZIP) // 2]


def _coded(body: bytes, coding: str = "gzip") -> Outcome:
    return replace(ok(body=body), coding=coding)


def _cut(body: bytes, coding: str) -> Outcome:
    return replace(lost(status=200, arrival=Arrival.CUT, body=body), coding=coding)


def _case(name: str, fault: str, outcome: Outcome, says: dict[str, Verdict], subject: SubjectFacts = PROXY) -> Case:
    entries = list(HEALTHY) if fault == "healthy" else (cut_by if fault == "gzip-cut" else answered_with)(fault)
    finished = run(planned(*([] if fault == "healthy" else [fault])), entries, outcome, subject=subject)
    return Case(name=name, rule=4, run=finished, verdict=FAIL if says else PASS, says=says)


CASES = (
    _case("a proxy passes gzip on as it came", "gzip", _coded(GZIP), {}),
    _case("a proxy undoes the gzip, and names it no more", "gzip", _coded(WHOLE, ""), {}),
    _case("a proxy undoes the gzip, and goes on naming it", "gzip", _coded(WHOLE), OTHERS),
    _case("a proxy passes gzip on, and names it no more", "gzip", _coded(GZIP, ""), OTHERS),
    _case("a proxy makes gzip of its own", "gzip", _coded(gzip.compress(WHOLE, 1, mtime=1)), OTHERS),
    _case("a proxy calls gzip what is none", "healthy", _coded(WHOLE), OTHERS),
    _case("a proxy passes on that plain content is called gzip", "gzip-lie", _coded(WHOLE), {}),
    _case("a proxy does not pass it on", "gzip-lie", _coded(WHOLE, ""), {}),
    _case("a proxy cuts gzip where it was cut", "gzip-cut", _cut(PART_OF_GZIP, "gzip"), {}),
    _case("a proxy undoes as much gzip as has come", "gzip-cut", _cut(HALF, ""), {}),
    _case("a proxy cuts gzip, and names it no more", "gzip-cut", _cut(PART_OF_GZIP, ""), OTHERS),
    _case("a server answers in gzip, and says so", "healthy", _coded(GZIP), {}, SERVER),
    _case("a server calls gzip what is none", "healthy", _coded(WHOLE), GARBAGE, SERVER),
    _case("a server answers in gzip, and does not say so", "healthy", _coded(GZIP, ""), GARBAGE, SERVER),
    _case("a server answers in a coding that nobody asked for", "healthy", _coded(WHOLE, "br"), GARBAGE, SERVER),
    _case("a server cuts gzip short of its check sum", "healthy", _coded(GZIP[:-8]), {"no-garbage": FAIL}, SERVER),
    Case(
        name="a whole stream in gzip",
        rule=4,
        run=run(streaming("healthy"), STREAMED, got(gzip.compress(STREAM), coding="gzip")),
        verdict=PASS,
    ),
    Case(
        name="a stream in gzip that is cut",
        rule=4,
        run=run(streaming("body-chunked-fin"), CUT, got(gzip.compress(PART)[:-8], Arrival.CUT, coding="gzip")),
        verdict=PASS,
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_coding_gets_its_verdict(case: Case) -> None:
    """Each literal run gets its verdict, and exactly the named checks say something other than PASS."""
    assert said_of(case.run) == (case.verdict, dict(case.says)), explain(case.run)


@pytest.mark.parametrize(
    ("lines", "coding"),
    [
        ([], ""),
        (["identity"], ""),
        (["GZIP"], "gzip"),
        (["x-gzip"], "gzip"),
        (["identity, gzip"], "gzip"),
        (["gzip", "br"], "gzip, br"),
    ],
)
def test_the_head_names_the_coding(lines: list[str], coding: str) -> None:
    """In any case, on one line or several (RFC 9110 s8.4, s5.3)."""
    assert coding_in([("content-type", "br"), *(("content-encoding", line) for line in lines)]) == coding


def test_gzip_may_have_several_members_and_no_bytes_behind_them() -> None:
    """RFC 1952 s2.2; and no content at all has no coding to undo."""
    members = gzip.compress(b"a") + gzip.compress(b"b")
    assert content_in(members, "gzip") == b"ab"
    assert content_in(members + b"?", "gzip") is None
    assert content_in(b"", "gzip") == b""


def test_of_what_was_cut_as_much_is_read_as_can_be() -> None:
    """Of what is not in that coding, nothing."""
    whole = gzip.compress(bytes(range(256)))
    assert bytes(range(256)).startswith(content_so_far(whole[:-40], "gzip"))
    assert content_so_far(whole[:-40], "gzip")
    assert content_so_far(b"plain", "gzip") == content_so_far(b"plain", "br") == b""
