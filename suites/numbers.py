"""Operation numbers: each is used once in the life of a process, so that no operation can be taken for another."""

from dataclasses import dataclass


@dataclass(slots=True)
class Numbers:
    """Hands out runs of consecutive numbers, from 1."""

    _next: int = 1

    def take(self, count: int) -> tuple[int, ...]:
        """The next `count` numbers, in order."""
        first = self._next
        self._next += count
        return tuple(range(first, self._next))
