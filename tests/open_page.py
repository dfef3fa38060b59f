"""A page of ours, open in a real browser."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

LOOKS = [("light", 1280), ("dark", 390)]  # scheme of colours, width in px: a screen and a phone


@contextmanager
def open_page(browser: Any, look: tuple[str, int], path: Path, html: bytes) -> Iterator[Any]:
    """That page, as a file at that path. Nothing may be said on its console, and nothing is fetched."""
    scheme, width = look
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    opened = context.new_page()
    said: list[str] = []
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.on("request", lambda asked: None if asked.url.startswith("file:") else said.append(asked.url))
    path.write_bytes(html)
    opened.goto(f"file://{path}")
    yield opened
    assert said == []
    context.close()
