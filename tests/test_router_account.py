"""The account of every operation, counted from the ledger: on literal entries, and over the control API."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
import pytest

from fake_router.account import Account, Accountant, OperationAccount, account_lines
from fake_router.control import Control
from fake_router.entries import AnyEntry, Executed, Received, Replied, Striking, Struck, Unserved, Witness
from faults.vocabulary import Sight
from tests.router_client import Stage, dial, one, request, staged, work
from tests.test_router_control import Api


def _received(seq: int, exchange: int, operation: int | None, of_operation: int = 1) -> Received:
    return Received(
        seq=seq, exchange=exchange, connection=1, upstream=0, nth=1, operation=operation, of_operation=of_operation,
        body_bytes=10, body_digest=None, content_digest=None,
    )  # fmt: skip


def _replied(seq: int, exchange: int, *, whole: bool = True) -> Replied:
    return Replied(seq=seq, exchange=exchange, bytes_sent=1, whole=whole)


# Operation 7 is executed twice, and answered whole once; 3 is read and struck; 5 is left unserved; one has no number.
LEDGER: tuple[AnyEntry, ...] = (
    _received(1, 1, 7),
    Executed(seq=2, exchange=1, execution=1),
    _replied(3, 1, whole=False),
    _received(4, 2, 3),
    Striking(seq=5, fault="503-before", upstream=0, connection=1, exchange=2, operation=3),
    _replied(6, 2),
    Struck(seq=7, striking=5, witness=Witness.ACT),
    _received(8, 3, 7, 2),
    Executed(seq=9, exchange=3, execution=2),
    _replied(10, 3),
    Unserved(seq=11, connection=2, upstream=0, operation=5, request_bytes=9),
    _received(12, 4, None),
    Executed(seq=13, exchange=4, execution=3),
    _replied(14, 4),
    Striking(seq=15, fault="reset-after", upstream=0, connection=1, exchange=9, operation=3),
    Striking(seq=16, fault="syn-dropped", upstream=0, operation=3),
    Struck(seq=17, striking=16, witness=Witness.SK_DROPS, count=0),
)
TOLD = Account(
    entries=17, received=3, unserved=1, unnamed=1, executed=2, answered=2, operations=3, received_more_than_once=1,
    executed_never=2, executed_more_than_once=(7,), duplicated=1, struck={"503-before": 1},
)  # fmt: skip
OF_EACH = [
    OperationAccount(operation=3, attempts=1, answered=1, struck=("503-before",)),
    OperationAccount(operation=5, attempts=1),
    OperationAccount(operation=7, attempts=2, executions=2, answered=1),
]


@pytest.mark.parametrize("at_once", [1, 4, 100])
def test_a_ledger_is_counted_in_whatever_slices_it_is_read(at_once: int) -> None:
    """A strike that was not closed, or whose witness saw none, counts for nobody; an exchange without a number, too."""
    accountant = Accountant()
    for first in range(0, len(LEDGER), at_once):
        accountant.read(LEDGER[first : first + at_once])
    assert accountant.account() == TOLD
    assert accountant.operations() == OF_EACH


def test_its_lines_are_the_account_and_each_operation_in_order() -> None:
    data = b"".join(account_lines(TOLD, OF_EACH * 400))
    first, *others = data.splitlines()
    assert msgspec.json.decode(first, type=Account) == TOLD
    assert [msgspec.json.decode(line, type=OperationAccount) for line in others] == OF_EACH * 400


def test_at_most_a_hundred_doubled_operations_are_named_and_all_are_counted() -> None:
    accountant = Accountant()
    for operation in range(150, 0, -1):
        accountant.read((_received(1, operation, operation), *[Executed(seq=1, exchange=operation, execution=1)] * 2))
    assert accountant.account().executed_more_than_once == tuple(range(1, 101))
    assert accountant.account().duplicated == 150


@contextmanager
def _controlled(stage: Stage) -> Iterator[Api]:
    control = Control(stage.router)
    stage.thread.run(control.start)
    yield Api(control.port)
    stage.thread.run(control.close)


def _account(api: Api) -> Account:
    status, data = api.call("GET", "/account")
    assert status == 200
    return msgspec.json.decode(data, type=Account)


def test_the_account_follows_the_ledger_and_begins_again_with_it() -> None:
    with staged() as stage, _controlled(stage) as api:
        stage.arm(one("reset-after", "503-before"), first=4)
        assert [dial(stage.port, work(4)).sight for _ in range(2)] == [Sight.RESET, Sight.STATUS]
        account = _account(api)
        assert (account.received, account.executed, account.operations, account.answered) == (2, 1, 1, 1)
        assert account.struck == {"503-before": 1, "reset-after": 1}
        assert dial(stage.port, work(4)).sight is Sight.WHOLE
        assert dial(stage.port, request(b'{"prompt": "x"}')).sight is Sight.WHOLE
        account = _account(api)
        assert (account.received, account.unnamed, account.executed_more_than_once) == (3, 1, (4,))
        _, lines = api.call("GET", "/account?operations=1")
        assert [json.loads(line) for line in lines.splitlines()[1:]] == [
            {"operation": 4, "attempts": 3, "executions": 2, "answered": 2, "struck": ["reset-after", "503-before"]}
        ]
        api.post("/reset")
        assert _account(api).operations == 0


def test_a_wrong_flag_is_refused() -> None:
    with staged() as stage, _controlled(stage) as api:
        status, answer = api.call("GET", "/account?operations=yes")
    assert (status, json.loads(answer)) == (400, {"error": "operations is 'yes'; expected 1, or 0 for the sums alone"})
