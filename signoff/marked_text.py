"""Text that may hold anything, as Markdown on GitHub, HTML in it and Mermaid show it: as text, whatever it says."""

import re

from suites.printable import on_one_line, shortened

MOST = 400  # characters of one text: what is longer is in the JSON
# All that could be structure somewhere in GitHub's Markdown; at the beginning of a line more can.
_MARKS = re.compile(r"[^A-Za-z0-9 ,.;:()%/?\u00a0-\U0010ffff'\"=+-]|:(?! )")
_BEGINS = re.compile(r"[^A-Za-z0-9\u00a0-\U0010ffff]|\d(?=\d*[.)])")
# What a comment on GitHub turns into a link or a notification, after all Markdown is read: a mark that is not seen
# (U+200B) keeps its parts from each other.
_LINKED = re.compile(r"@(?=\w)|#(?=\d)|\b(?:www|GH)(?=[.-])|:(?=//|[\w+-]+:)", re.IGNORECASE)
_APART = "\u200b"


def escaped(text: str, most: int = MOST) -> str:
    """That text on one line, in a paragraph, a cell of a table, or an HTML element; no character of it is structure.

    A character reference is never structure, neither in Markdown (CommonMark s2.5) nor in HTML.
    """
    line = _LINKED.sub(lambda found: found[0] + _APART, on_one_line(" ".join(shortened(text, most).split())))
    if _BEGINS.match(line):  # such as "1." or "-", with which a list begins
        return _reference(line[0]) + _referred(line[1:])
    return _referred(line)


def code(text: str, most: int = MOST) -> str:
    """The same, as code."""
    return f"<code>{escaped(text, most)}</code>"


def in_mermaid(text: str, most: int = 120) -> str:
    """That text as a message, a note or a name of a Mermaid diagram: `;` would end it, and `#` begins a reference."""
    line = on_one_line(" ".join(shortened(text, most).split()))
    return re.sub(r"[^A-Za-z0-9 ,.()/+-]", lambda found: f"#{ord(found[0])};", line)


def _referred(text: str) -> str:
    return _MARKS.sub(lambda found: _reference(found[0]), text)


def _reference(one: str) -> str:
    return f"&#{ord(one)};"
