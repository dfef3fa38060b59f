"""Sections of a text that may not be longer than so many bytes: what is cut is said, where it is cut."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from signoff.marked_text import escaped

MOST_BYTES = 59_000  # GitHub takes 65,536 characters of a comment, and whoever posts it may add some
_CLOSING = 400  # bytes for the last line, which says which sections are not there


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part that is cut between its rows only. name: what it is called where it is left out. more: how many rows there
    are beside these. where: the file in which all of them are.
    """

    name: str
    head: str
    rows: tuple[str, ...] = ()
    foot: str = ""
    more: int = 0
    where: str = "report.json"


def clipped(sections: Iterable[Section], most_bytes: int = MOST_BYTES) -> str:
    """All sections in order of their importance, in at most so many bytes of UTF-8. Where they are too long together,
    one takes at most half of what is left, so that those after it are heard too; one of which nothing fits is named at
    the end.
    """
    left = most_bytes - _CLOSING
    offered = [(section, _shown(section)) for section in sections]
    whole = sum(_bytes(text) for _, text in offered) <= left
    taken: list[str] = []
    missing: list[str] = []
    for section, shown in offered:
        text = shown if whole or _bytes(shown) <= left // 2 else _cut(section, left // 2)
        if text is None:
            missing.append(section.name)
            continue
        taken.append(text)
        left -= _bytes(text)
    if missing:
        taken.append(_closing(missing))
    return "".join(taken)


def _closing(missing: Sequence[str]) -> str:
    line = f"Left out here: {', '.join(missing)}"
    return f"{escaped(line, 80)}\n"


def _shown(section: Section) -> str:
    """As much of it as is shown where nothing else takes room."""
    return _joined(section, section.rows, _more(section, len(section.rows)))


def _more(section: Section, shown: int) -> str:
    rest = len(section.rows) - shown + section.more
    return f"\nand {rest} more, in {section.where}\n" if rest else ""


def _cut(section: Section, most: int) -> str | None:
    """As many rows as fit, and how many do not; None where not even one does."""
    room = most - _bytes(_joined(section, (), _more(section, 0)))
    rows = tuple(_fitting(section.rows, room))
    return _joined(section, rows, _more(section, len(rows))) if rows else None


def _fitting(rows: Iterable[str], room: int) -> Iterator[str]:
    for row in rows:
        room -= _bytes(row) + 1
        if room < 0:
            return
        yield row


def _joined(section: Section, rows: Iterable[str], more: str = "") -> str:
    body = "".join(f"{row}\n" for row in rows)
    return f"{section.head}{body}{more}{section.foot}\n"


def _bytes(text: str) -> int:
    return len(text.encode())
