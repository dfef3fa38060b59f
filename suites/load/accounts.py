"""What the ledgers of all routers say together of every operation, from the account that each of them gives."""

from functools import cache

import msgspec
import numpy as np

from fake_router.account import Account as RouterAccount
from fake_router.account import OperationAccount
from faults.answer import Answer
from faults.catalogue import fault_named
from faults.contents import soundness_of
from faults.form import COMPLETION
from faults.vocabulary import Soundness
from suites.load.found import Account

_totals = msgspec.json.Decoder(RouterAccount)
_operations = msgspec.json.Decoder(OperationAccount)


class Accounts:
    """Router by router; then `account`. most: the greatest number that a caller has used."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._attempts = np.zeros(most + 1, np.uint32)
        self._executions = np.zeros(most + 1, np.uint32)
        self._struck = np.zeros(most + 1, np.bool_)
        self._unprovable = np.zeros(most + 1, np.bool_)
        self._totals: list[RouterAccount] = []
        self._beyond = 0

    def add(self, lines: bytes) -> None:
        """The account of one router, and behind it a line for each operation. Raises msgspec.DecodeError."""
        first, *others = lines.splitlines()
        self._totals.append(_totals.decode(first))
        for line in others:
            one = _operations.decode(line)
            if one.operation > self._most:
                self._beyond += 1
                continue
            self._attempts[one.operation] += one.attempts
            self._executions[one.operation] += one.executions
            self._struck[one.operation] |= bool(one.struck)
            self._unprovable[one.operation] |= any(map(_is_unprovable, one.struck))

    def account(self) -> Account:
        """All of them together."""
        faults: dict[str, int] = {}
        for totals in self._totals:
            for fault, count in totals.struck.items():
                faults[fault] = faults.get(fault, 0) + count
        return Account(
            received=sum(totals.received + totals.unserved for totals in self._totals),
            executed=sum(totals.executed for totals in self._totals),
            answered=sum(totals.answered for totals in self._totals),
            attempts=self._attempts,
            executions=self._executions,
            struck=self._struck,
            unprovable=self._unprovable,
            beyond=self._beyond,
            unnamed=sum(totals.unnamed for totals in self._totals),
            faults=faults,
        )


@cache
def _is_unprovable(fault: str) -> bool:
    """Its reply has the form of a result, and is none of that operation: a forwarder does not read tokens."""
    act = fault_named(fault).act
    return isinstance(act, Answer) and soundness_of(act.content, COMPLETION) is Soundness.UNPROVABLE
