"""report.md of a check and of a sign-off: the worst comes first, and what does not fit is said."""

import datetime as dt
import re

import msgspec
import pytest

from signoff.clipping import Section, clipped
from signoff.markdown import markdown_of_report
from signoff.markdown_sign_off import markdown_of_sign_off
from signoff.report import CellReport, Report, Step
from signoff.sign_off import Allowance, SignOff
from signoff.signing_off import sign_off_of
from tests.literal_reports import LOST, RETRIED, TWICE, broken, cell, literal_report

MOST = 60_000
STEPS = tuple(Step(n, "forwarder", "upstream 0", f"operation 1, sending {n} <&@", "", (n,)) for n in range(40))


def signed_off(base: Report, candidate: Report, partial: str = "") -> SignOff:
    """The sign-off of both."""
    paths = ("base/report.json", "candidate/report.json")
    made = sign_off_of(base, candidate, paths=paths, strict=False, today=dt.date(2026, 11, 30), partial=partial)
    named = msgspec.structs.replace(made.candidate, named="new.toml")
    return msgspec.structs.replace(made, candidate=named)


def page_of(made: Report | SignOff) -> str:
    """Its report.md."""
    return (markdown_of_report(made) if isinstance(made, Report) else markdown_of_sign_off(made)).decode()


def many(count: int, *, text: str) -> list[CellReport]:
    """So many broken cells, each of a kind of its own."""
    found = [msgspec.structs.replace(RETRIED, check=f"check-{n}", says=f"{text} {n} " * 50) for n in range(count)]
    return [broken(each, id=f"wait/{n}/{text * 40}", diagram=STEPS) for n, each in enumerate(found)]


def test_a_check_shows_the_first_failure_with_its_diagram() -> None:
    """That which did work twice, although another came first."""
    worse = broken(TWICE, id="b/c/d", doubled=1, diagram=STEPS[:1])
    known = broken(TWICE, id="known/x/y", doubled=1, known=True)
    page = page_of(literal_report(known, broken(RETRIED), worse, cell(id="c", verdict="not_run", reason="needs root")))
    first, _, rest = page.partition("</details>")
    assert "## ✅ PASS: mine" in first
    assert "<details open><summary><code>b/c/d</code>: at-most-once</summary>" in first
    assert "  p0->>p1: operation 1, sending 0 #60;#38;#64;" in first
    assert "retryproof replay plans/b--c--d.json" in first
    assert "<details><summary>2 cells failed" in rest
    assert "<details><summary>1 cell known to fail" in rest
    assert "<details><summary>1 cell not run</summary>\n\n| cells | because |\n|---|---|\n| 1 | needs root |" in rest


def test_a_sign_off_shows_what_matters_the_decisions_and_the_first_blocker() -> None:
    """And each change with its cells; what did not change is a number."""
    plan: dict[str, object] = {"operations": []}
    truth = "executed"
    same = (cell(id="same/x/y"), cell(id="same/x/y"))
    base = literal_report(cell(plan=plan, truth=truth), cell(id="weaker/x/y"), same[0])
    now = broken(TWICE, RETRIED, plan=plan, truth=truth, attempts=2, executions=2, doubled=1, diagram=STEPS[:2])
    made = signed_off(base, literal_report(now, cell(id="weaker/x/y", findings=(LOST,), warnings=1), same[1]))
    page = page_of(made)
    lines = page.splitlines()
    assert lines[1] == "## ❌ BLOCK: mine → new.toml"
    assert lines[3 : 3 + len(made.matter)] == [f"- {line}" for line in made.matter]
    order = ["### Decisions that changed: 1 of 1", "```mermaid", "1 cell: regressed", "1 cell: weaker"]
    assert [page.index(part) for part in order] == sorted(page.index(part) for part in order)
    assert "replay candidate/plans/wait--reset-after--first.json --subject new.toml" in page
    assert "same/x/y" not in page


def test_a_part_claims_no_verdict() -> None:
    """It says why it is none, before anything else."""
    report = msgspec.structs.replace(literal_report(cell()), verdict="UNKNOWN", partial="interrupted")
    assert "**Not whole: interrupted.**" in page_of(report).split("\n\n")[2]
    made = signed_off(literal_report(cell()), literal_report(cell()), partial="interrupted")
    assert "**Not whole: interrupted.** No verdict is claimed." in page_of(made).split("\n\n")[1]


def test_what_is_excused_comes_last_and_says_by_what() -> None:
    made = signed_off(literal_report(cell(), cell(id="z")), literal_report(broken(RETRIED), broken(TWICE, id="z")))
    first = msgspec.structs.replace(made.cells[0], excused=0)
    known = Allowance(cells="wait/*", reason="known | so", owner="me", expires="2027-01-01", state="used", excused=1)
    page = page_of(msgspec.structs.replace(made, cells=(first, *made.cells[1:]), allowances=(known,)))
    assert "<summary><code>wait/reset-after/first</code>" not in page
    assert page.index("| <code>z</code> |") < page.index("excused by allowance 1; safe-retry")
    assert "| 1 | <code>wait/&#42;</code> | used | 1 | 2027-01-01 | me | known &#124; so |" in page


@pytest.mark.parametrize("text", ["x", "</details>", "\u202e@|", "日本"])
def test_a_page_of_any_size_is_short_and_says_what_is_cut(text: str) -> None:
    """In characters and in bytes; every part that was opened is closed, and the verdict is there."""
    report = literal_report(*many(5_000, text=text))
    whole = literal_report(*(cell(id=each.id) for each in report.cells))
    notes = tuple(text * 400 for _ in range(3))
    made = msgspec.structs.replace(signed_off(whole, report), notes=notes, matter=notes)
    for page in (page_of(report), page_of(made)):
        assert 20_000 < len(page.encode()) < MOST
        assert page.count("<details") == page.count("</details>") > 3
        assert page.count("```") == 6
        assert " more, in " in page
        assert page.splitlines()[1].startswith("## ")


def test_what_fits_is_not_cut() -> None:
    """A section of more than half of the room neither, where the others leave it."""
    section = Section(name="long", head="", rows=("x" * 99,) * 30)
    assert clipped([section, Section(name="end", head="end")], 4_000).count("x" * 99) == 30


def test_each_section_is_cut_to_half_of_what_is_left() -> None:
    """Those after a long one are heard; one of which not a row fits is named."""
    long = Section(name="long", head="long\n", rows=("x" * 99,) * 300, foot="end\n")
    text = clipped([long, long, Section(name="huge", head="huge", rows=("y" * 5_000,))], 4_400)
    assert [part.count("x" * 99) for part in text.split("long\n")[1:]] == [19, 9]
    assert text.count("and 281 more, in report.json\nend\n") == 1
    assert text.endswith("Left out here: huge\n")
    assert len(text) < 4_400


def test_a_length_is_that_of_the_bytes() -> None:
    """Whoever counts otherwise counts fewer."""
    text = clipped([Section(name="long", head="", rows=("日" * 10,) * 200), Section(name="end", head="end")], 4_000)
    assert len(text.encode()) < 4_000


def test_of_all_that_blocks_what_does_work_twice_is_first() -> None:
    """And of each kind the first alone."""
    ids = ("a", "b", "c")
    findings = ((RETRIED,), (RETRIED, TWICE), (RETRIED,))
    cells = (broken(*found, id=id_, doubled=len(found) - 1) for id_, found in zip(ids, findings, strict=True))
    page = page_of(signed_off(literal_report(*(cell(id=id_) for id_ in ids)), literal_report(*cells)))
    assert re.findall(r"<details( open)?><summary><code>(.)</code>", page) == [(" open", "b"), ("", "a")]


def test_rows_that_were_never_made_are_counted() -> None:
    assert clipped([Section(name="a", head="", rows=("x",), more=2)]) == "x\n\nand 2 more, in report.json\n\n"
