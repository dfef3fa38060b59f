"""who-retries-what.html in a real browser: on a screen and on a phone, light and dark, by keyboard alone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from signoff.survey_page import html_of_survey
from tests.literal_results import OF_EACH, result
from tests.open_page import LOOKS, open_page
from tests.test_html_browser import browser  # noqa: F401  # a fixture

pytestmark = pytest.mark.browser


@pytest.fixture(params=LOOKS, ids=lambda p: f"{p[0]}-{p[1]}")
def page(request: pytest.FixtureRequest, browser: Any, tmp_path: Path) -> Iterator[Any]:  # noqa: F811
    """The page of two subjects, open."""
    html = html_of_survey([result(*OF_EACH, subject="mine"), result(*OF_EACH[:3], subject="yours")])
    with open_page(browser, request.param, tmp_path / "page.html", html) as opened:
        yield opened


def test_every_cell_is_a_button_and_none_is_wider_than_its_table(page: Any) -> None:
    """The page itself never scrolls sideways."""
    assert page.locator("td button").count() == len(OF_EACH) + 3
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_arrow_keys_lead_from_cell_to_cell_and_enter_opens_one(page: Any) -> None:
    """With its finding and the command that replays it; Escape closes it."""
    page.fill("#filter-text", "first")
    page.locator("td button[tabindex='0']").focus()
    focused = "document.activeElement.getAttribute('aria-label')"
    while "503-after" not in page.evaluate(focused):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert "yours" in page.evaluate(focused)
    page.keyboard.press("Enter")
    shown = page.locator("dialog[open]").inner_text()
    assert "safe-retry" in shown
    assert "retryproof check yours" in shown
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0


def test_filters_leave_what_they_name(page: Any) -> None:
    """Faults, subjects, signs, and where subjects differ."""
    page.fill("#filter-subject", "yours")
    assert page.locator("td button").count() == 3
    page.fill("#filter-subject", "")
    page.fill("#filter-text", "reset-after")
    assert page.locator("td button").count() == 2
    page.fill("#filter-text", "")
    page.select_option("#filter-mark", "must")
    assert page.locator("td button:not(.hidden)").count() == 2
    page.select_option("#filter-mark", "")
    page.check("#filter-differ")
    assert page.locator("td button").count() == 0


def test_everybody_can_use_it(page: Any) -> None:
    """axe-core finds nothing, also where a cell is open."""
    from axe_playwright_python.sync_playwright import Axe

    for _ in range(2):
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        page.locator("td button[tabindex='0']").focus()
        page.keyboard.press("Enter")
