"""What is seen now of a subject against what was published of the same version of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from signoff.published import Published, PublishedCell


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """One cell that went otherwise than it was published. now: once for each time that it was lived through."""

    published: PublishedCell
    now: tuple[PublishedCell, ...]

    @property
    def varies(self) -> bool:
        """It went once as it was published: both are true of it."""
        return any(each.went == self.published.went for each in self.now)

    def __str__(self) -> str:
        """Both, in one line."""
        seen = "; ".join(dict.fromkeys(map(in_words, self.now)))
        return f"{self.published.id}: published {in_words(self.published)}; now {seen}"


def in_words(cell: PublishedCell) -> str:
    """How it went: its verdict, what was sent and run, and what the caller had."""
    if cell.verdict == "not_run":
        return f"not run ({cell.reason})"
    attempts = "?" if cell.attempts is None else cell.attempts
    status = "" if cell.status is None else f" {cell.status}"
    return f"{cell.verdict}, {attempts} sent, {cell.executions} run, {cell.outcome}{status}"


def comparable(earlier: Published, ids: Iterable[str]) -> dict[str, PublishedCell]:
    """Its cells of these names that can be held against another time."""
    wanted = set(ids)
    return {cell.id: cell for cell in earlier.cells if cell.id in wanted and cell.is_certain}


def drifted(earlier: Published, now: Published) -> tuple[Drift, ...]:
    """Every cell that went otherwise and is certain on both sides."""
    published = comparable(earlier, (cell.id for cell in now.cells))
    return tuple(
        Drift(published=published[cell.id], now=(cell,))
        for cell in now.cells
        if cell.id in published and cell.is_certain and cell.went != published[cell.id].went
    )


def with_more(drifts: Sequence[Drift], now: Published) -> tuple[Drift, ...]:
    """The same, with one more time that each was lived through."""
    seen = {cell.id: cell for cell in now.cells if cell.is_certain}
    return tuple(
        Drift(published=one.published, now=(*one.now, *([seen[one.published.id]] if one.published.id in seen else [])))
        for one in drifts
    )
