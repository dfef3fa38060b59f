"""What became of every operation, counted from the ledger: for runs whose entries are too many to read one by one."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from fake_router.entries import AnyEntry, Executed, Received, Replied, Striking, Struck, Unserved

LINES_AT_ONCE = 1_000
MOST_NAMED = 100  # of the operations that were executed more than once


class OperationAccount(msgspec.Struct, kw_only=True):
    """What became of one operation. attempts: its sendings, received whole or left unserved; answered: replies of which
    the kernel took all; struck: the faults that struck it, in their order.
    """

    operation: int
    attempts: int = 0
    executions: int = 0
    answered: int = 0
    struck: tuple[str, ...] = ()


class Account(msgspec.Struct, kw_only=True):
    """What became of all of them, as far as the entry `entries`. Exchanges that carry no operation count as `unnamed`
    alone. struck: how often each fault did.
    """

    entries: int = 0
    received: int = 0
    unserved: int = 0
    unnamed: int = 0
    executed: int = 0
    answered: int = 0
    operations: int = 0
    received_more_than_once: int = 0
    executed_never: int = 0
    executed_more_than_once: tuple[int, ...] = ()  # the first MOST_NAMED of them
    duplicated: int = 0  # how many there are
    struck: dict[str, int] = {}


class Accountant:
    """Reads the entries of one ledger, in their order, as they are given to it."""

    def __init__(self) -> None:
        self.seq = 0  # of the last entry that was read
        self._of: dict[int, OperationAccount] = {}
        self._exchanges: dict[int, OperationAccount] = {}  # those that may still be executed or answered
        self._strikes: dict[int, Striking] = {}  # those that may still have struck
        self._struck: Counter[str] = Counter()
        self._received = self._unserved = self._unnamed = 0

    def read(self, entries: Iterable[AnyEntry]) -> None:
        """Count these as well."""
        for entry in entries:
            self.seq = entry.seq
            match entry:
                case Received(operation=None):
                    self._unnamed += 1
                case Received(operation=int() as operation):
                    self._received += 1
                    account = self._exchanges[entry.exchange] = self._operation(operation)
                    account.attempts += 1
                case Unserved(operation=int() as operation):
                    self._unserved += 1
                    self._operation(operation).attempts += 1
                case Executed(exchange=exchange) if exchange in self._exchanges:
                    self._exchanges[exchange].executions += 1
                case Replied(exchange=exchange, whole=whole) if exchange in self._exchanges:
                    self._exchanges.pop(exchange).answered += whole
                case Striking():
                    self._strikes[entry.seq] = entry
                case Struck(striking=striking, count=count) if count and striking in self._strikes:
                    self._strike(self._strikes.pop(striking))
                case _:
                    pass

    def account(self) -> Account:
        """What was counted until now."""
        of = self._of.values()
        twice = sorted(account.operation for account in of if account.executions > 1)
        return Account(
            entries=self.seq,
            received=self._received,
            unserved=self._unserved,
            unnamed=self._unnamed,
            executed=sum(account.executions for account in of),
            answered=sum(account.answered for account in of),
            operations=len(of),
            received_more_than_once=sum(account.attempts > 1 for account in of),
            executed_never=sum(not account.executions for account in of),
            executed_more_than_once=tuple(twice[:MOST_NAMED]),
            duplicated=len(twice),
            struck=dict(sorted(self._struck.items())),
        )

    def operations(self) -> list[OperationAccount]:
        """One by one, in the order of their numbers."""
        return [self._of[operation] for operation in sorted(self._of)]

    def _operation(self, number: int) -> OperationAccount:
        account = self._of.get(number)
        if account is None:
            account = self._of[number] = OperationAccount(operation=number)
        return account

    def _strike(self, strike: Striking) -> None:
        self._struck[strike.fault] += 1
        if strike.operation is not None:
            account = self._operation(strike.operation)
            account.struck = (*account.struck, strike.fault)


def account_lines(account: Account, operations: Sequence[OperationAccount]) -> Iterator[bytes]:
    """The account as a line of JSON, and then one line for each operation; in pieces of many lines."""
    yield _encode_lines([account])
    for first in range(0, len(operations), LINES_AT_ONCE):
        yield _encode_lines(operations[first : first + LINES_AT_ONCE])


_encode_lines = msgspec.json.Encoder().encode_lines
