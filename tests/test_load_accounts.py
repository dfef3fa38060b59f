"""What the accounts of several routers say together, from literal lines."""

import msgspec
import numpy as np

from fake_router.account import Account, OperationAccount
from suites.load.accounts import Accounts
from suites.load.ended import MAX_WHYS, RECORD, Ended, Tally, joined
from suites.load.found import peak_in_flight


def _lines(total: Account, *operations: OperationAccount) -> bytes:
    return msgspec.json.Encoder().encode_lines([total, *operations])


def test_attempts_and_executions_of_all_routers_add_up() -> None:
    """An operation that moved on to another router has attempts at both."""
    accounts = Accounts(3)
    one = Account(received=2, executed=1, answered=1, struck={"reset-after": 1})
    other = Account(received=1, unserved=1, executed=1, answered=1, unnamed=1, struck={"reset-after": 1, "unread": 1})
    accounts.add(
        _lines(
            one,
            OperationAccount(operation=1, attempts=1, executions=1, answered=1),
            OperationAccount(operation=2, attempts=1, struck=("reset-after",)),
        )
    )
    accounts.add(_lines(other, OperationAccount(operation=2, attempts=2, executions=1, answered=1)))
    account = accounts.account()
    assert (account.received, account.executed, account.answered, account.unnamed) == (4, 2, 2, 1)
    assert account.attempts.tolist() == [0, 1, 3, 0]
    assert account.executions.tolist() == [0, 1, 1, 0]
    assert account.struck.tolist() == [False, False, True, False]
    assert account.faults == {"reset-after": 2, "unread": 1}


def test_operations_that_nobody_asked_for_are_counted() -> None:
    """Their numbers are greater than any that was used."""
    accounts = Accounts(1)
    accounts.add(_lines(Account(received=1), OperationAccount(operation=9, attempts=1)))
    assert accounts.account().beyond == 1


def test_tallies_of_several_processes_are_joined_with_their_words() -> None:
    """Each counts in words of its own."""
    one = Tally(records=np.array([(1, Ended.UNKNOWN, 1, 0, 5)], RECORD), whys=("reset",))
    other = Tally(records=np.array([(2, Ended.UNKNOWN, 2, 0, 5), (3, Ended.OK, 0, 0, 5)], RECORD), whys=("x", "ended"))
    both = joined([one, other])
    words = ["", *both.whys]
    assert [(int(r["number"]), words[r["why"]]) for r in both.records] == [(1, "reset"), (2, "ended"), (3, "")]
    assert len(joined([]).records) == 0


def test_as_many_words_as_all_caller_processes_have_fit_into_the_records() -> None:
    """Each of 256 processes may have words that no other has."""
    tallies = [
        Tally(
            records=np.array([(n, Ended.UNKNOWN, MAX_WHYS, 0, 5)], RECORD),
            whys=tuple(f"{n}.{word}" for word in range(MAX_WHYS)),
        )
        for n in range(256)
    ]
    both = joined(tallies)
    assert [both.whys[why - 1] for why in both.records["why"]] == [f"{n}.{MAX_WHYS - 1}" for n in range(256)]


def test_what_was_in_flight_together_is_counted_over_all_of_them() -> None:
    """One that ends as another begins was not in flight with it."""
    rows = [(1, 0, 0, 0, 10), (2, 0, 0, 5, 12), (3, 0, 0, 10, 20), (4, 0, 0, 11, 30)]
    assert peak_in_flight(np.array(rows, RECORD)) == 3
    assert peak_in_flight(np.array([], RECORD)) == 0


def test_what_a_fault_sent_that_nobody_can_prove_wrong_is_known() -> None:
    """A whole result of another operation; half of one can be."""
    accounts = Accounts(2)
    struck = [OperationAccount(operation=n, struck=(fault,)) for n, fault in ((1, "foreign-200"), (2, "half-json-200"))]
    accounts.add(_lines(Account(), *struck))
    assert accounts.account().unprovable.tolist() == [False, True, False]
