"""What docs/futures.md shows of the code: `python -m forwarder.futures.page docs/futures.md` writes it there."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path

from forwarder.futures.limits import Ttl
from forwarder.futures.states import TRANSITIONS, Event, State, diagram

_UNITS = ((3_600_000, "h"), (1000, "s"), (1, "ms"))


def written_in(page: str) -> str:
    """The page with each of its parts as the code says; a part lies between two comments with its name.

    Raises ValueError for a page without one of them.
    """
    for name, part in PARTS.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        if page.count(begin) != 1 or page.count(end) != 1:
            raise ValueError(f"{name!r} is not once in the page; expected {begin} ... {end}")
        page = f"{page.partition(begin)[0]}{begin}\n\n{part()}\n\n{end}{page.partition(end)[2]}"
    return page


def _diagram() -> str:
    return f"```mermaid\n{diagram()}\n```"


def _states() -> str:
    return _table(("state", "means"), [(f"`{state.name}`", state.value) for state in State])


def _events() -> str:
    rows = []
    for event in Event:
        moves = [(old, new) for (old, what), new in TRANSITIONS.items() if what is event]
        rows.append((f"`{event.name}`", event.value, ", ".join(f"{old.name} → {new.name}" for old, new in moves)))
    return _table(("event", "means", "moves"), rows)


def _times() -> str:
    rows = [
        (f"`{each.name}`", _duration(each.default), each.metadata["from"], each.metadata["reason"])
        for each in fields(Ttl)
    ]
    return _table(("time", "default", "from when", "why"), rows)


def _duration(ms: object) -> str:
    assert isinstance(ms, int)
    size, unit = next((size, unit) for size, unit in _UNITS if ms % size == 0)
    return f"{ms // size} {unit}"


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


PARTS: Mapping[str, Callable[[], str]] = {"diagram": _diagram, "states": _states, "events": _events, "times": _times}


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.write_text(written_in(target.read_text()))
