"""report.html as text: it is whole without a network, nothing in its data ends it, and thousands of cells fit in."""

import datetime as dt
import json
import re
from typing import Any

import msgspec
import pytest

from signoff.html import html_of_report, html_of_sign_off
from signoff.report import Report, Step
from signoff.sign_off import SignOff
from signoff.signing_off import sign_off_of
from tests.literal_reports import RETRIED, broken, cell, literal_report

STEPS = tuple(Step(n, "forwarder", "upstream 0", f"operation 1, sending {n}", "", (n, n + 1)) for n in range(10))


def signed_off(base: Report, candidate: Report) -> SignOff:
    """The sign-off of both."""
    paths = ("base/report.json", "candidate/report.json")
    return sign_off_of(base, candidate, paths=paths, strict=False, today=dt.date(2026, 11, 30))


def data_in(page: bytes) -> dict[str, Any]:
    """What the page's script reads."""
    found = re.search(rb'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def many(count: int, **changes: Any) -> Report:
    """A report of so many cells, each with a diagram of its own."""
    cells = []
    for n in range(count):
        steps = tuple(msgspec.structs.replace(step, ms=n) for step in STEPS)
        cells.append(
            cell(id=f"wait/fault-{n // 20}/dimension-{n % 20}", fault=f"fault-{n // 20}", diagram=steps, **changes)
        )
    return literal_report(*cells)


def test_nothing_is_fetched() -> None:
    page = html_of_report(literal_report(cell()), "mine").decode()
    assert not re.search(r"""(src|href)\s*=\s*["'](?!#)|@import|url\(|fetch\(|XMLHttpRequest""", page)


@pytest.mark.parametrize("text", ["</script><script>alert(1)</script>", "<!--", "$data", "&amp;<b>", "\u2028"])
def test_no_text_of_a_report_is_taken_for_markup(text: str) -> None:
    told = msgspec.structs.replace(RETRIED, says=text)
    page = html_of_report(literal_report(broken(told), cell(id="a/b/c")), "mine")
    assert text in data_in(page)["strings"]
    assert page.count(b"<script") == 2


def test_what_is_to_be_known_is_on_the_page_as_text() -> None:
    note = msgspec.structs.replace(signed_off(literal_report(cell()), literal_report(cell())), notes=("by <b>0.1</b>",))
    assert "Note: by &lt;b&gt;0.1&lt;/b&gt;" in html_of_sign_off(note).decode()


def test_the_command_that_is_copied_runs_nothing_else() -> None:
    """Whatever a subject or a cell is called; of a property of futures that holds there is no script to replay."""
    odd = [broken(RETRIED, id="a/b/$(reboot)"), cell(id="futures/told", phase="futures"), cell(verdict="not_run")]
    texts = data_in(html_of_report(literal_report(*odd), "my proxy.toml; reboot"))["strings"]
    assert [text for text in texts if text.startswith("retryproof ")] == [
        "retryproof replay 'plans/a--b--$(reboot).json' --subject 'my proxy.toml; reboot'"
    ]


def test_the_verdict_and_what_matters_need_no_script() -> None:
    base, candidate = literal_report(cell()), literal_report(broken(RETRIED))
    head = html_of_sign_off(signed_off(base, candidate)).decode().partition("<main")[0]
    assert 'class="verdict bad">BLOCK<' in head
    assert "<li>1 cell regresses" in head


def test_a_part_claims_no_verdict() -> None:
    report = msgspec.structs.replace(literal_report(cell()), partial="interrupted", verdict="UNKNOWN")
    assert b"Not whole: interrupted. No verdict is claimed." in html_of_report(report, "mine")


def test_a_diagram_that_many_cells_share_is_there_once() -> None:
    cells = [cell(id=f"wait/fault-{n}/first", diagram=STEPS) for n in range(20)]
    assert len(data_in(html_of_report(literal_report(*cells), "mine"))["diagrams"]) == 1


def test_5000_cells_fit_into_5_megabytes() -> None:
    side = many(5_000)
    assert len(html_of_sign_off(signed_off(side, side))) < 5_000_000


def test_every_cell_has_the_command_that_lives_through_it_again() -> None:
    found = data_in(html_of_report(literal_report(cell(id="wait/reset-after/first")), "mine.toml"))["strings"]
    assert "retryproof replay plans/wait--reset-after--first.json --subject mine.toml" in found


def test_the_worst_cell_is_listed_first_and_of_those_what_shows_most() -> None:
    """Work done twice, of one fault; then of a drawn plan, however often; what is the same comes last."""
    names = ("a/same/first", "b/again/first", "drawn/0001", "c/twice/first")
    told = (None, broken(RETRIED), broken(RETRIED, doubled=2, dimensions={"drawn": True}), broken(RETRIED, doubled=1))
    now = [msgspec.structs.replace(found or cell(), id=name) for found, name in zip(told, names, strict=True)]
    was = [cell(id=name) for name in names]
    for page in (
        html_of_sign_off(signed_off(literal_report(*was), literal_report(*now))),
        html_of_report(literal_report(*now), "mine"),
    ):
        data = data_in(page)
        listed = [data["strings"][data["cells"][place][0]] for place in data["worst"]]
        assert listed == ["c/twice/first", "drawn/0001", "b/again/first", "a/same/first"]
