"""report.html of a load in a real browser: on a screen and on a phone, light and dark."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from signoff.load_page import html_of_load
from tests.open_page import LOOKS, open_page
from tests.test_html_browser import browser  # noqa: F401  # a fixture
from tests.test_load_report import loaded

pytestmark = pytest.mark.browser


@pytest.fixture(params=LOOKS, ids=lambda p: f"{p[0]}-{p[1]}")
def page(request: pytest.FixtureRequest, browser: Any, tmp_path: Path) -> Iterator[Any]:  # noqa: F811
    """Open."""
    html = html_of_load(loaded())
    with open_page(browser, request.param, tmp_path / "page.html", html) as opened:
        yield opened


def test_every_plot_is_drawn_and_everybody_can_use_the_page(page: Any) -> None:
    """Cost over what was in flight, and for each load four plots over time; the page never scrolls sideways."""
    from axe_playwright_python.sync_playwright import Axe

    assert page.locator("svg").count() == 6
    assert "NaN" not in page.content()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
