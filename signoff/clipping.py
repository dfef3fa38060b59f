"""Sections of a text that may not be longer than so many bytes: what is cut is said, where it is cut."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

MOST_BYTES = 59_000  # GitHub takes 65,536 characters of a comment; the issue tracker of others takes less
_CLOSING = 400  # bytes for the last line, which says which sections are not there


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part that is cut between its rows only. name: what it is called where it is left out. shown: how many rows at
    most. where: the file in which all of them are.
    """

    name: str
    head: str
    rows: tuple[str, ...] = ()
    foot: str = ""
    shown: int = 200
    where: str = "report.json"


def clipped(sections: Iterable[Section], most_bytes: int = MOST_BYTES) -> str:
    """All sections in order of their importance, in at most so many bytes of UTF-8. One that is too long takes at most
    half of what is left, so that those after it are heard too; one of which nothing fits is named at the end.
    """
    left = most_bytes - _CLOSING
    taken: list[str] = []
    missing: list[str] = []
    for section in sections:
        text = _whole(section)
        if text is None or _bytes(text) > left // 2:
            text = _cut(section, left // 2)
        if text is None:
            missing.append(section.name)
            continue
        taken.append(text)
        left -= _bytes(text)
    if missing:
        taken.append(f"Left out here: {', '.join(missing)}.\n"[: _CLOSING - 1])
    return "".join(taken)


def _whole(section: Section) -> str | None:
    return _joined(section, section.rows) if len(section.rows) <= section.shown else None


def _cut(section: Section, most: int) -> str | None:
    """As many rows as fit, and how many do not; None where not even one does."""
    more = f"\nand {len(section.rows)} more, in {section.where}\n"
    room = most - _bytes(_joined(section, ())) - _bytes(more)
    rows = tuple(_fitting(section.rows[: section.shown], room))
    if not rows:
        return None
    return _joined(section, rows, f"\nand {len(section.rows) - len(rows)} more, in {section.where}\n")


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
