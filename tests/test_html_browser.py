"""report.html in a real browser: it opens, filters and draws, says nothing on the console, can be used by everybody.

Chromium comes from the system (Debian: `apt-get install chromium`), its driver from PyPI, and axe-core judges.
"""

import datetime as dt
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from signoff.allowances import Allowed
from signoff.html import html_of_report, html_of_sign_off
from signoff.report import Loaded, Step, Worked
from signoff.signing_off import sign_off_of
from tests.literal_reports import RETRIED, broken, cell, literal_report

pytestmark = pytest.mark.browser

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRAWN = (
    Step(0, "caller", "forwarder", "operation 1"),
    Step(1, "forwarder", "upstream 0", "operation 1, sending 1", "", (3,)),
    Step(1, "upstream 0", "", "executed (execution 1)", "executed", (5,)),
    Step(2, "upstream 0", "", "reset-after", "strike", (6, 7)),
    Step(3, "forwarder", "caller", "operation 1: unknown 502 (whole)"),
)
WORK = Worked(mix="m", origin="o", per_1000=10.0, operations=200, lost=1, doubled=1)
LOADS = (Loaded(state="down", at_once=1_000, reason="this machine stalled"),)
LONG = f"in '/{'a' * 90}/report.json'"
TRUE: dict[str, Any] = {"truth": "executed", "evidence": "whole reply with a status 503", "phase": "status"}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Both kinds of page, with cells of every verdict."""
    folder = tmp_path_factory.mktemp("pages")
    others = [cell(id=f"status/{word}/first", verdict=word, diagram=DRAWN) for word in ("PASS", "UNKNOWN", "not_run")]
    base = literal_report(cell(outcome="unknown", status=502, diagram=DRAWN, **TRUE), *others)
    candidate = literal_report(broken(RETRIED, attempts=2, executions=2, diagram=DRAWN, **TRUE), *others)
    paths = ("base/report.json", "candidate/report.json")
    known = Allowed(cells="no/*", reason="none", owner="me", expires=dt.date(2027, 1, 31))
    base, candidate = (replace(side, work=WORK, loads=LOADS) for side in (base, candidate))
    today = dt.date(2026, 11, 30)
    sign_off = sign_off_of(
        base, candidate, paths=paths, strict=False, allowed=[known], today=today, notes=(LONG,), partial=LONG
    )
    made = {"signoff": html_of_sign_off(sign_off), "check": html_of_report(candidate, "mine")}
    for name, page in made.items():
        (folder / f"{name}.html").write_bytes(page)
    return {name: folder / f"{name}.html" for name in made}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, or a skip that says what to install."""
    from playwright.sync_api import sync_playwright

    if CHROMIUM is None:
        why = "no chromium on PATH; expected a browser (Debian: `apt-get install chromium`)"
        if os.environ.get("RETRYPROOF_NO_SKIP"):
            pytest.fail(why)
        pytest.skip(why)
    with sync_playwright() as playwright:
        # A container has no user namespaces for Chromium's sandbox; the page is ours.
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(params=["signoff", "check"])
def kind(request: pytest.FixtureRequest) -> str:
    """Which page."""
    return str(request.param)


@pytest.fixture(params=[("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390)], ids=lambda p: f"{p[0]}-{p[1]}")
def page(request: pytest.FixtureRequest, browser: Any, pages: dict[str, Path], kind: str) -> Iterator[Any]:
    """The page, open, light or dark, wide or on a phone. Nothing may be said on its console."""
    scheme, width = request.param
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    opened = context.new_page()
    said: list[str] = []
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.on("request", lambda request: None if request.url.startswith("file:") else said.append(request.url))
    opened.goto(pages[kind].as_uri())
    yield opened
    assert said == []
    context.close()


def violations(page: Any) -> list[str]:
    """What axe-core finds wrong."""
    from axe_playwright_python.sync_playwright import Axe

    return [f"{found['id']}: {found['nodes'][0]['html']}" for found in Axe().run(page).response["violations"]]


def test_a_page_filters_draws_and_is_accessible(page: Any, kind: str) -> None:
    """It opens, a filter leaves one cell, Enter shows its diagram, Escape closes it; axe-core finds nothing."""
    assert violations(page) == []
    assert page.locator("table.cells tbody tr").count() == 4
    page.keyboard.press("/")
    page.keyboard.type("wait/reset")
    assert page.locator("table.cells tbody tr").count() == 1
    assert page.locator(".heat button.hidden").count() == 3
    page.locator("table.cells button.row").focus()
    page.keyboard.press("Enter")
    assert page.locator("dialog[open] svg").count() == (2 if kind == "signoff" else 1)
    assert page.locator("dialog svg .strike").first.is_visible()
    assert "retryproof replay" in page.locator("dialog pre").first.inner_text()
    assert violations(page) == []
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0


def test_nothing_is_wider_than_the_window(page: Any) -> None:
    """On a phone too: what is wide scrolls in its own box."""
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_the_first_cell_of_all_is_the_worst_and_its_diagram_fits(page: Any) -> None:
    """On a phone too: nothing that happened lies outside the window."""
    page.locator("table.cells button.row").first.click()
    assert page.locator("dialog h2").inner_text() == "wait/reset-after/first"
    fits = "all => all.every(one => one.getBoundingClientRect().right <= innerWidth)"
    assert page.locator("dialog svg").evaluate_all(fits)
    assert page.locator("dialog svg text").evaluate_all(fits.replace(".right <= innerWidth", ".left >= 0"))


def test_what_changes_is_in_the_decision_table(page: Any, kind: str) -> None:
    """In the words that a reviewer needs."""
    if kind == "signoff":
        text = page.locator("section:has(#decisions)").inner_text()
        assert "gave up, now sends again (executed twice)" in text
    else:
        assert page.locator("section:has(#decisions) tbody tr").count() == 1
