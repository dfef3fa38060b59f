"""Nothing that came from outside steers a terminal: not on it, and not in a report that somebody shows on it."""

import io
import json
from pathlib import Path

import pytest
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from fake_router.entries import Probed
from fake_router.ledger import Ledger
from retryproof.folder import OutputFolder
from retryproof.output import say
from retryproof.terminal import Screen, print_labelled, print_line, sheet
from suites.printable import MAX_CHARACTERS, legible, on_one_line, printable, printable_json, shortened

STEERS = {
    "\x1b[2J": r"\x1b[2J",  # ESC
    "\x07": r"\x07",
    "\x7f": r"\x7f",
    "\x9b2J": r"\x9b2J",  # CSI in one character
    "\u202e": r"\u202e",  # from right to left
    "\u2028": r"\u2028",
    "\udcff": r"\udcff",  # a byte of an argument that is no UTF-8
    "\U000e0001": r"\U000e0001",
}


@pytest.mark.parametrize("text", STEERS)
def test_what_steers_is_spelled_out(text: str) -> None:
    """And all else stays."""
    assert printable(f"a {text} \u00e9\u4e16\n\tb") == f"a {STEERS[text]} \u00e9\u4e16\n\tb"
    assert on_one_line(f"{text}\r\n\t") == rf"{STEERS[text]}\r\n\t"


@pytest.mark.parametrize("text", [text for text in STEERS if text != "\udcff"])
def test_json_says_the_same_in_printable_characters(text: str) -> None:
    """It is the same data."""
    data = {"says": f'\u00e9 {text} "quoted"', "\u4e16": 1}
    dumped = printable_json(json.dumps(data, ensure_ascii=False, indent=1).encode())
    assert json.loads(dumped) == data
    assert dumped.decode().replace("\n", "").isprintable()
    assert "\u00e9".encode() in dumped


def test_a_long_message_keeps_its_beginning_and_its_end() -> None:
    """A value of megabytes is quoted in part."""
    assert shortened("x" * MAX_CHARACTERS) == "x" * MAX_CHARACTERS
    cut = shortened(f"begin{'x' * MAX_CHARACTERS}end")
    assert len(cut) <= MAX_CHARACTERS
    assert (cut[:5], cut[-3:]) == ("begin", "end")


def test_of_a_long_value_a_message_quotes_the_ends() -> None:
    """What was expected stands within sight of it; what a person can read is left alone."""
    said = "mine.toml: speaks is {!r}; expected {}"
    expected = "openai-chat or tinker, or a body template of one's own " * 9
    assert legible(said.format("x" * 900, expected)) == said.format("x" * 900, expected)
    assert legible(said.format("x" * 90_000, expected)).startswith("mine.toml: speaks is 'xxx")
    assert len(legible(said.format("x" * 90_000, expected))) < len(said) + 250 + len(expected)
    assert legible(said.format("x" * 90_000, expected)).endswith(f"x'; expected {expected}")


def _print_all(out: Screen, text: str) -> None:
    """In every way in which something is printed."""
    print_line(out, text)
    print_line(out, Text.assemble(("FAIL", "bold red"), text))
    print_labelled(out, (text, text))
    table = sheet(out, text, "more", fold=("more",))
    table.add_row(text, Text(text))
    out.print(Padding(table, 1))
    inner = Table(title=text)
    inner.add_column(text)
    inner.add_row(Text(text))
    out.print(inner, text)


@pytest.mark.parametrize("width", [40, 120])
@pytest.mark.parametrize("text", [text for text in STEERS if text != "\x07"])
def test_nothing_steers_the_terminal(text: str, width: int) -> None:
    """Neither from a line nor from a cell of a table; rich drops BEL itself."""
    file = io.StringIO()
    _print_all(Screen(file=file, width=width, highlight=False, no_color=True, force_terminal=False), text)
    assert file.getvalue().replace("\n", "").isprintable()
    assert STEERS[text] in file.getvalue()


def test_our_own_colours_are_left() -> None:
    """On a terminal that shows them."""
    file = io.StringIO()
    out = Screen(file=file, width=80, color_system="standard", force_terminal=True)
    print_line(out, Text.assemble(("FAIL", "red"), " of \x1b[2J"))
    assert file.getvalue() == "\x1b[31mFAIL\x1b[0m of \\x1b[2J\n"


def test_a_line_is_one_line() -> None:
    """A name cannot add a verdict of its own."""
    file = io.StringIO()
    print_line(Screen(file=file, width=80), "FAIL x\nPASS reference")
    assert file.getvalue() == "FAIL x\\nPASS reference\n"


def test_a_message_is_printable_and_not_endless(capsys: pytest.CaptureFixture[str]) -> None:
    """Its lines stay: a subject has last words."""
    say(f"no \x1b[2J\nand {'9' * 100_000} end")
    err = capsys.readouterr().err
    assert err.startswith("retryproof: no \\x1b[2J\nand 999")
    assert err.endswith("9 end\n")
    assert len(err) < MAX_CHARACTERS + 20


def test_what_is_recorded_is_printable(tmp_path: Path) -> None:
    """A ledger holds what a peer sent, and a report what a subject answered."""
    ledger = Ledger()
    ledger.record(Probed, connection=1, upstream=0, method="GET", target="/\x9b2J", status=200)
    folder = OutputFolder(tmp_path / "out")
    folder.add_ledger("cell", 1, ledger.since())
    folder.close()
    text = (tmp_path / "out" / "ledger.jsonl").read_text()
    assert r"/\u009b2J" in text
    assert text.strip().isprintable()
