"""Families of faults: the same fault at each of many places, told apart by the number in its id.

A family is data like a fault; its members are made when they are asked for.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from faults.fault import Fault

NUMBER = "N"  # stands for the number in the name of a family


class UnknownFaultError(ValueError):
    """A plan or a caller names a fault that there is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """The faults whose ids are `name` with a number from 1 to `last` in the place of its N.

    shown: the members that are in the catalogue, and so have cells; all others are drawn, or named by a plan.
    """

    name: str
    says: str
    last: int
    build: Callable[[int], Fault]
    shown: tuple[int, ...] = ()

    def id_of(self, number: int) -> str:
        """The id of that member."""
        return self.name.replace(NUMBER, str(number))

    def holds(self, id_: str) -> bool:
        """The id has the form of this family's, whatever its number is."""
        return self._number(id_) is not None

    def member(self, id_: str) -> Fault:
        """The fault of that id. Raises UnknownFaultError for a number that the family does not have."""
        number = self._number(id_)
        # Compared as texts first: a number of thousands of digits is none that int() would read.
        if number is None or len(number) > len(str(self.last)) or str(int(number)) != number:
            raise self._unknown(id_)
        if not 1 <= int(number) <= self.last:
            raise self._unknown(id_)
        return self.build(int(number))

    def _unknown(self, id_: str) -> UnknownFaultError:
        return UnknownFaultError(f"fault {id_[:100]!r} of {self.name!r}; expected a number from 1 to {self.last}")

    def _number(self, id_: str) -> str | None:
        before, _, after = self.name.partition(NUMBER)
        matched = re.fullmatch(f"{re.escape(before)}([0-9]+){re.escape(after)}", id_)
        return matched[1] if matched else None
