"""What the ledgers of all routers say together of every operation."""

from collections.abc import Iterable

import numpy as np

from fake_router.entries import AnyEntry, Executed, Received, Replied, Striking, Unserved
from suites.load.found import Account


class Accounts:
    """Ledger by ledger; then `account`. most: the greatest number that a caller has used."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._attempts = np.zeros(most + 1, np.uint32)
        self._executions = np.zeros(most + 1, np.uint32)
        self._struck = np.zeros(most + 1, np.bool_)
        self._received = self._executed = self._answered = 0
        self._beyond: set[int] = set()

    def add(self, ledger: Iterable[AnyEntry]) -> None:
        """That of one router, whose exchanges have numbers of their own."""
        operation_of: dict[int, int] = {}
        for entry in ledger:
            match entry:
                case Received(operation=int(number), exchange=exchange):
                    self._received += 1
                    operation_of[exchange] = self._known(number)
                    self._attempts[operation_of[exchange]] += 1
                case Unserved(operation=int(number)):
                    self._received += 1
                    self._attempts[self._known(number)] += 1
                case Executed(exchange=exchange) if exchange in operation_of:
                    self._executed += 1
                    self._executions[operation_of[exchange]] += 1
                case Replied(exchange=exchange, whole=True) if exchange in operation_of:
                    self._answered += 1
                case Striking(operation=int(number)):
                    self._struck[self._known(number)] = True
                case _:
                    pass

    def account(self) -> Account:
        """All of them together; number 0 stands for what nobody has asked for."""
        for numbers in (self._attempts, self._executions, self._struck):
            numbers[0] = 0
        return Account(
            received=self._received,
            executed=self._executed,
            answered=self._answered,
            attempts=self._attempts,
            executions=self._executions,
            struck=self._struck,
            beyond=len(self._beyond),
        )

    def _known(self, number: int) -> int:
        if number <= self._most:
            return number
        self._beyond.add(number)
        return 0
