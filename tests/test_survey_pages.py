"""Both pages of a survey: the same for the same results, whole without a network, and no text is taken for markup."""

import re
from pathlib import Path

import msgspec
import pytest

from retryproof.survey_faces import HTML, MARKDOWN, draw
from signoff.markdown_survey import COLUMNS, markdown_of_survey
from signoff.published import Mark, Published, dump_published, file_name, load_published
from signoff.report import CellReport
from signoff.survey_page import html_of_survey
from signoff.survey_table import MEANINGS, SIGNS, columns_at_most, replay, rows_of
from suites.registry import built_in_subjects
from tests.literal_reports import RETRIED, broken, cell
from tests.literal_results import BROKEN, OF_EACH, result
from tests.test_html_page import data_in

ROOT = Path(__file__).parent.parent


def text_of(*results: Published) -> str:
    """The page in Markdown."""
    return markdown_of_survey(results).decode()


def test_each_sign_stands_in_the_table_with_what_was_sent_and_run() -> None:
    """And of what was not run neither."""
    page = text_of(result(*OF_EACH))
    table = page.partition("| fault | in |")[2].partition("## What was seen")[0]
    assert set(re.findall(r"\| ([^\s|])(?: \d/\d)? \|$", table, re.MULTILINE)) == set(SIGNS.values())
    assert "| `reset-after` | reused | - |" in table
    assert f"| first | {SIGNS[Mark.MUST]} 2/2 |" in table
    assert all(means in page for means in MEANINGS.values())


def test_what_is_to_be_said_of_many_cells_is_said_once() -> None:
    """With the reason, the finding, and the command that lives through one of them again."""
    same = [broken(RETRIED, id=f"status/{n}-after/first", attempts=2, executions=2) for n in (502, 503, 504)]
    page = text_of(result(*same, OF_EACH[5], OF_EACH[6]))
    (line,) = [line for line in page.splitlines() if line.startswith("| ✗ | ")]
    assert line.count("<code>") == 3
    assert "safe&#45;retry" in line or "safe-retry" in line
    assert "| <code>mine</code> 3 |" in page  # cells in which the check did not hold
    assert "this machine stalled" in page
    assert "it keeps no connections" in page
    assert "retryproof check mine" in page.replace("&#45;", "-")


def test_rows_are_in_wire_order_whoever_has_them() -> None:
    """Also where no subject has all of them; what no catalogue knows comes last."""
    one, other = result(*OF_EACH[:3], cell(id="a/unknown/cell", fault="unknown")), result(*OF_EACH[3:])
    ids = [row.id for row in rows_of((one, other))]
    assert ids[-2:] == ["none/healthy/first", "a/unknown/cell"]
    assert ids.index("accept/accept-reset/first-of-two") < ids.index("wait/reset-after/first") < ids.index(BROKEN)


def test_the_configurations_of_a_subject_stay_in_one_table() -> None:
    """However many there are; others join them as long as a screen shows them."""
    results = [
        result(cell(), subject=f"{name}:{n}") for name, count in (("a", 5), ("b", 3), ("c", 9)) for n in range(count)
    ]
    assert [len(table) for table in columns_at_most(results, COLUMNS)] == [8, 9]


def test_a_command_replays_a_cell_as_a_shell_takes_it() -> None:
    """Of what was not run there is none."""
    held = result(*OF_EACH, subject="my proxy.toml")
    assert replay(held, held.cells[1]) == f"retryproof check 'my proxy.toml' --depth full --only {BROKEN}"
    assert replay(held, held.cells[6]) == ""


@pytest.mark.parametrize("text", ["</script><script>alert(1)</script>", "<!--", "$data", "&amp;<b>", "\u2028"])
def test_no_text_of_a_result_is_taken_for_markup(text: str) -> None:
    """Neither in the page nor in Markdown."""
    told = msgspec.structs.replace(RETRIED, says=text)
    held = result(broken(told), version=text)
    page = html_of_survey([held])
    assert text in data_in(page)["strings"]
    assert page.count(b"<script") == 2
    assert "<script>" not in text_of(held)
    assert "<b>" not in text_of(held)


def test_nothing_is_fetched() -> None:
    """The page is one file."""
    page = html_of_survey([result(*OF_EACH)]).decode()
    assert not re.search(r"""(src|href)\s*=\s*["'](?!#)|@import|url\(|fetch\(|XMLHttpRequest""", page)


def test_both_pages_are_drawn_from_what_the_folder_holds(tmp_path: Path) -> None:
    """And from nothing else: twice the same bytes."""
    held = result(*OF_EACH)
    (tmp_path / file_name(held.subject, held.number)).write_bytes(dump_published(held))
    paths = draw(tmp_path, tmp_path / "docs")
    assert [path.name for path in paths] == [MARKDOWN, HTML]
    assert [path.read_bytes() for path in paths] == [markdown_of_survey([held]), html_of_survey([held])]


def test_a_survey_of_sixty_configurations_fits_on_a_page() -> None:
    """Below 2 MB, with all findings."""
    cells: list[CellReport] = [broken(RETRIED, id=f"status/fault-{n}/first", fault=f"fault-{n}") for n in range(60)]
    assert len(html_of_survey([result(*cells, subject=f"subject-{n}") for n in range(60)])) < 2_000_000


def test_the_mark_that_keeps_parts_of_a_name_apart_is_not_seen() -> None:
    """A name of two variants looks like the beginning of an emoji."""
    page = text_of(msgspec.structs.replace(result(*OF_EACH), subject="one:a+two:b"))
    assert "one&#58;\u200ba+two&#58;b" in page
    assert "\\u" not in page


def test_the_published_pages_are_drawn_from_the_published_results(tmp_path: Path) -> None:
    """`retryproof survey --draw` changes nothing."""
    for path in draw(ROOT / "results", tmp_path):
        assert path.read_bytes() == (ROOT / "docs" / path.name).read_bytes()


def test_every_published_result_is_of_a_built_in_subject_and_holds_nothing_of_a_machine() -> None:
    """It is called as its file says, and names no folder; no cell is UNKNOWN without its reason."""
    for path in (ROOT / "results").glob("*.json"):
        held = load_published(path)
        assert path.name == file_name(held.subject, held.number)
        assert set(held.subject.split("+")) <= set(built_in_subjects())
        assert not re.search(rb"/(root|home|tmp)/", path.read_bytes())
        assert [one.id for one in held.cells if one.mark in (Mark.UNKNOWN, Mark.NOT_RUN) and not one.reason] == []
