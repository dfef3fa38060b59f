"""What is said of a load: its numbers, its page and what a person sees, from literal loads."""

import re
from io import StringIO

import jsonschema
import msgspec
import pytest

from retryproof.load_face import live_words, print_report
from retryproof.terminal import Screen
from signoff.load_page import html_of_load, rates_of
from signoff.load_report import LoadReport, LoadSubject, Machine
from signoff.load_reporting import failures_of, step_of, thinned, worst_of
from signoff.schemas import schema_of
from suites.load.ended import Ended
from tests.load_data import account, found, sample, tally
from tests.test_html_page import data_in

OK, NOT_EXECUTED, UNKNOWN, GARBAGE, NO_ANSWER, _ = Ended
_SAMPLES = (
    sample(10, in_flight=4, resident=1_000, cpu_s=2.0),
    sample(11, in_flight=4, done=2, resident=9_000, cpu_s=2.5, sockets=8),
    sample(12, done=4, resident=5_000, cpu_s=2.8, sockets=4),
)
_FOUND = found(tally(OK, OK, UNKNOWN, OK, why="<status> 502"), account([1, 1, 0, 1], [1, 1, 1, 1]), samples=_SAMPLES)


def loaded(*changes: tuple[str, object]) -> LoadReport:
    """A report of one load, with these changes."""
    step = step_of(_FOUND)
    report = LoadReport(
        tool="retryproof 0",
        subject=LoadSubject(name="mine", version="1", promises="answering"),
        mode="instant",
        callers="plain",
        seed=0,
        for_s=None,
        faults=None,
        under=[],
        machine=Machine(files=20_000, backlog=4_096, packets=1_000, ports=28_000, cores=2, memory_bytes=1 << 34),
        steps=[step],
        verdict=step.verdict,
    )
    return msgspec.structs.replace(report, **dict(changes))


def test_cpu_and_memory_are_those_of_the_subject_since_the_word_to_begin() -> None:
    """For each operation, and for each in flight."""
    step = step_of(_FOUND)
    assert step.cpu_ms_per_operation == pytest.approx(200)
    assert step.resident_bytes_per_operation == 2_000
    assert step.sockets == 8
    assert (step.operations, step.succeeded, step.attempts, step.executions) == (4, 3, 4, 3)
    assert step.latency_ms.max == pytest.approx(4)


def test_failures_are_counted_by_kind() -> None:
    """The commonest first."""
    load = found(tally(NO_ANSWER, UNKNOWN, UNKNOWN, why="status 502"), account([0, 0, 0]))
    assert list(failures_of(load).items()) == [("may have run: status 502", 2), ("no answer: status 502", 1)]


def test_a_load_in_which_nothing_was_asked_for_has_no_numbers_and_no_verdict() -> None:
    """Nothing is divided by it."""
    step = step_of(found(tally(), account([]), most_in_flight=0, samples=_SAMPLES))
    assert (step.verdict, step.per_second, step.latency_ms.max) == ("UNKNOWN", 0.0, None)
    assert (step.cpu_ms_per_operation, step.caller_cpu_ms_per_operation) == (None, None)
    assert step.resident_bytes_per_operation is None


def test_the_worst_load_stands_for_all() -> None:
    """And none at all proves nothing."""
    assert worst_of(["PASS", "FAIL", "UNKNOWN"]) == "FAIL"
    assert worst_of([]) == "UNKNOWN"


def test_a_report_is_as_its_schema_says() -> None:
    """Read back, it is the same."""
    report = loaded()
    written = msgspec.json.encode(report)
    jsonschema.validate(msgspec.json.decode(written), schema_of(LoadReport))
    assert msgspec.json.decode(written, type=LoadReport) == report


def test_the_page_is_whole_and_takes_no_text_for_markup() -> None:
    """Its verdict, its table and its failures need no script."""
    page = html_of_load(loaded(("verdict", "FAIL"))).decode()
    head = page.partition('<script type="application/json"')[0]
    assert 'class="verdict bad">FAIL<' in head
    assert "may have run: &lt;status&gt; 502" in head
    assert '<td class="n">200.000</td>' in head
    assert not re.search(r"""(src|href)\s*=\s*["'](?!#)|@import|url\(|fetch\(|XMLHttpRequest""", page)
    (step,) = data_in(page.encode())["steps"]
    assert step["rates"] == [[1.0, 2.0], [2.0, 2.0]]


def test_a_part_claims_no_verdict() -> None:
    """On the page and on the terminal."""
    report = loaded(("partial", "interrupted"), ("verdict", "UNKNOWN"))
    assert b"Not whole: interrupted. No verdict is claimed." in html_of_load(report)
    assert _printed(report).lstrip().startswith("no verdict mine 1")


def test_every_face_says_what_was_asked_for() -> None:
    """With its faults, those of them that are left out, its toxics and how long it went on."""
    toxic = {"toxic": "latency", "direction": "upstream", "hop": "router", "latency_ms": 20, "jitter_ms": 0}
    report = loaded(("for_s", 30.0), ("faults", "mine"), ("left_out", ["connect-refused"]), ("under", [toxic]))
    said = (
        "seed 0", "for 30 s", "faults: mine", "1 of them left out",
        "under latency upstream router latency_ms=20 jitter_ms=0",
    )  # fmt: skip
    assert "; ".join(said).encode() in html_of_load(report)
    assert ", ".join(said) in " ".join(_printed(report).split())


def test_a_person_sees_the_numbers_and_what_does_not_hold() -> None:
    """A row for each load."""
    shown = _printed(loaded())
    assert shown.lstrip().startswith("PASS mine 1, instant, plain callers")
    assert re.search(r"^ +4 +4 +1 +1,000 +200\.000 +2\.0 +8$", shown, re.MULTILINE)
    assert re.search(r"^ +4 +2 +4 +4 +4$", shown, re.MULTILINE)
    assert "1 may have run: <status> 502" in shown


def _printed(report: LoadReport) -> str:
    text = StringIO()
    print_report(Screen(file=text, width=120, no_color=True, force_terminal=False, highlight=False), report)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())


def test_the_live_line_says_what_is_going_on() -> None:
    """Its rate is that of the last looks."""
    assert live_words(list(_SAMPLES)) == "in flight 0  done 4  failed 0  2/s"
    assert live_words([_SAMPLES[0]]) == "in flight 4  done 0  failed 0  0/s"


def test_a_long_load_has_as_many_moments_as_a_page_can_show() -> None:
    """The first and the last are among them."""
    many = [sample(n) for n in range(2_000)]
    some = thinned(many, 100)
    assert len(some) <= 101
    assert (some[0], some[-1]) == (many[0], many[-1])
    assert list(rates_of(step_of(found(tally(), account([]), samples=many[:1])))) == []
