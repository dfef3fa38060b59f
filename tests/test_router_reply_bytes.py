"""Replies on a real socket, byte for byte: what arrives is what a judge computes, and then the connection ends as its
act ends it, or is as good as new.
"""

from collections.abc import Iterator

import pytest

from fake_router.entries import Executed, Received, Replied, Struck
from fake_router.replies import bytes_of, render
from faults.acts import HEALTHY, ReplyAct, needs_stream, needs_tls
from faults.answer import HEAD_BYTES, MAX_CUT, Answer
from faults.catalogue import CATALOGUE, FAMILIES, fault_named
from faults.coverage import COSTLY
from faults.families import Family
from faults.fault import Fault
from faults.form import COMPLETION, Form
from faults.plan import MAX_OPERATIONS, Plan, PlannedOperation
from faults.vocabulary import Ending
from faults.vocabulary import Replied as HowMuch
from tests.router_client import LONG_MS, READ_TIMEOUT_MS, Client, Stage, staged, work

OPERATION, NEXT = 7, 8
REPLIES = [
    fault
    for fault in CATALOGUE.values()
    if isinstance(fault.act, ReplyAct) and not needs_tls(fault.act) and fault.coverage is not COSTLY
]


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with staged() as stage:
        yield stage


def _sent(act: ReplyAct, operation: int, execution: int, form: Form = COMPLETION) -> bytes:
    reply = render(act, operation, execution, 1, form)
    data = b"".join(part for part in reply.parts if isinstance(part, bytes))
    assert len(data) == bytes_of(reply)
    return data


def _execution(stage: Stage, operation: int, strikes: int) -> int:
    """Of that operation, once so many strikes are closed in all; 0 where it was not executed."""
    stage.until(Struck, strikes)
    exchange = stage.of(Received)[-1]
    assert exchange.operation == operation
    return next((entry.execution for entry in stage.of(Executed) if entry.exchange == exchange.exchange), 0)


def _end(client: Client) -> Ending | None:
    """How the connection has ended behind the bytes that were read; None: nothing more comes, and it is open."""
    client.socket.settimeout(READ_TIMEOUT_MS / 1000)
    try:
        more = client.socket.recv(1)
    except TimeoutError:
        return None
    except ConnectionResetError:
        return Ending.RESET
    assert more == b""
    return Ending.FIN


@pytest.mark.parametrize("fault", REPLIES, ids=lambda fault: fault.id)
def test_what_arrives_is_what_a_judge_computes_and_nothing_else(stage: Stage, fault: Fault) -> None:
    """An open connection serves the next request, with not a byte between the two replies."""
    act = fault.act
    assert isinstance(act, ReplyAct)
    stage.heal()
    since, struck = len(stage.entries()), len(stage.of(Struck))
    form = Form(stream=needs_stream(act))
    met = PlannedOperation(faults=(fault.id,), stream=form.stream)
    plan = Plan(operations=(met, PlannedOperation(faults=("healthy",))))
    with Client(stage.port) as client:
        stage.arm(plan, first=OPERATION)
        client.send(work(OPERATION, stream=form.stream))
        execution = _execution(stage, OPERATION, struck + 1)
        expected = _sent(act, OPERATION, execution, form)
        assert client.take(len(expected), within_ms=LONG_MS) == expected
        if act.ending is not None or not isinstance(act, Answer) or act.stalls:
            assert _end(client) is act.ending
        else:
            client.send(work(NEXT))
            following = _sent(HEALTHY, NEXT, _execution(stage, NEXT, struck + 2))
            assert client.take(len(following)) == following
    assert stage.idle()
    replied = next(entry for entry in stage.entries()[since:] if isinstance(entry, Replied))
    assert replied.bytes_sent == len(expected)
    assert replied.whole is (fault.truth.replied is HowMuch.WHOLE)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_reply_can_be_cut_at_each_of_its_bytes(family: Family) -> None:
    """With either ending: exactly so many bytes, and then the end."""
    with staged() as stage:
        for first in range(1, family.last + 1, MAX_OPERATIONS):
            numbers = range(first, min(first + MAX_OPERATIONS, family.last + 1))
            operations = tuple(PlannedOperation(faults=(family.id_of(number),)) for number in numbers)
            stage.arm(Plan(operations=operations), first=first)
            for number in numbers:
                _cut(stage, fault_named(family.id_of(number)), number)


def _cut(stage: Stage, fault: Fault, number: int) -> None:
    act = fault.act
    assert isinstance(act, Answer)
    since = len(stage.entries())
    with Client(stage.port) as client:
        client.send(work(number))
        taken = client.take(number + 1)
        assert len(taken) == number
        assert _end(client) is act.ending or act.ending is Ending.RESET  # that one may have been read already
    assert stage.idle()
    entries = stage.entries()[since:]
    execution = next((entry.execution for entry in entries if isinstance(entry, Executed)), 0)
    assert (execution != 0) is fault.truth.executed
    assert taken == _sent(act, number, execution)
    (replied,) = [entry for entry in entries if isinstance(entry, Replied)]
    assert (replied.bytes_sent, replied.whole) == (number, False)


def test_the_smallest_reply_is_one_byte_longer_than_the_last_cut() -> None:
    """So every member of the family is a cut; and its head is as long as the table of truth thinks."""
    (data,) = render(HEALTHY, 1, 1, 1).parts
    assert isinstance(data, bytes)
    assert len(data) == MAX_CUT + 1
    assert data.index(b"\r\n\r\n") + 4 == HEAD_BYTES
