"""Every entry finds its attempt, and every attempt its operation."""

from dataclasses import replace

from fake_router.entries import AnyEntry, EndedBy, Witness
from faults.plan import Plan, PlannedOperation
from faults.vocabulary import Replied
from suites.accounts import accounts_of
from suites.attempts import Attempt
from tests.ledgers import (
    FRESH,
    OP,
    accepted,
    closed,
    dialled,
    executed,
    held,
    numbered,
    opened,
    planned,
    probed,
    received,
    rejected,
    replied,
    replying,
    run,
    served,
    steps,
    striking,
    struck,
    unserved,
)

TWO = Plan(operations=(PlannedOperation(), PlannedOperation()))


def attempts(plan: Plan, entries: list[AnyEntry]) -> tuple[Attempt, ...]:
    """The attempts of the plan's first operation."""
    return accounts_of(run(plan, entries)).planned[0].attempts


def test_an_exchange_has_its_four_facts_and_its_strike() -> None:
    """Received, accepted, executed and replied are apart, each with the seq that shows it."""
    entries = steps(
        [opened(1), received(1), accepted(1), executed(1, 7), striking("html-200", exchange=1)],
        [replying(1), replied(1), struck(5), closed(1, EndedBy.PEER)],
    )
    (attempt,) = attempts(planned("html-200"), entries)
    facts = (attempt.received, attempt.accepted, attempt.executed, attempt.replying, attempt.answered)
    assert facts == (2, 3, 4, 6, 7)
    assert (attempt.execution, attempt.status, attempt.replied) == (7, 200, Replied.WHOLE)
    assert (attempt.fault, attempt.struck, attempt.peer_left) == ("html-200", True, 9)
    assert (attempt.upstream, attempt.connection, attempt.exchange, attempt.nth) == (0, 1, 1, 1)


def test_what_was_left_unread_and_read_late_is_one_sending() -> None:
    """The strike of the connection and the exchange of its request belong together, though another came between."""
    entries = steps(
        [opened(1), striking("unread-late", connection=1), struck(2), opened(2, 1), *served(2, 1, upstream=1)],
        [received(1, of=2), accepted(1), executed(1, 2)],
    )
    first, second = attempts(held("unread-late"), entries)
    assert (first.exchange, first.fault, first.start, first.executed) == (1, "unread-late", 3, 12)
    assert (second.exchange, second.fault, second.of_operation) == (2, None, 1)


def test_a_held_connection_is_an_attempt_from_when_its_request_came() -> None:
    """The strike is opened when the connection is, and closed when a request has arrived on it."""
    entries = steps(
        [opened(1), striking("unread-never", connection=1), opened(2, 1), *served(2, 1, upstream=1)],
        [struck(2), unserved(1)],
    )
    first, second = attempts(held("unread-never"), entries)
    assert (first.exchange, second.fault, second.unserved) == (2, "unread-never", 10)


def test_a_subject_that_leaves_after_its_answer_was_served_all_the_same() -> None:
    """Only a connection without a request is no sending."""
    (attempt,) = attempts(planned(), [*served(1, 1), closed(1, EndedBy.PEER)])
    assert (attempt.executed, attempt.peer_left) == (3, 6)


def test_a_sending_has_struck_only_where_each_of_its_faults_has() -> None:
    """Two strikes, of the listener and of the exchange, and one of them is not closed."""
    entries = [
        opened(1),
        striking("unread-late", connection=1),
        struck(2),
        received(1),
        striking("reset-after", exchange=1),
    ]
    (attempt,) = attempts(held("unread-late"), entries)
    assert ([strike.struck for strike in attempt.strikes], attempt.struck) == ([3, None], False)


def test_every_dial_that_was_seen_is_an_attempt() -> None:
    """Two dials of a refusing listener, in their places between exchanges."""
    entries = steps(
        [striking("connect-refused"), dialled(0, 5001, refused=True), *served(1, 1, upstream=1)],
        [dialled(0, 5002, refused=True), struck(1, Witness.PACKET, 2)],
    )
    found = attempts(held("connect-refused"), entries)
    assert [(attempt.fault, attempt.exchange) for attempt in found] == [
        ("connect-refused", None),
        (None, 1),
        ("connect-refused", None),
    ]
    assert all(attempt.placed and attempt.exactly_one for attempt in found)


def test_dials_that_only_the_kernel_counted_are_at_least_one_attempt_at_an_unknown_time() -> None:
    """SYNs are sent again by the kernel, so their number is no number of attempts."""
    entries = [striking("syn-dropped"), *served(1, 1, upstream=1), struck(1, Witness.SK_DROPS, 3)]
    unseen, exchange = attempts(held("syn-dropped"), entries)
    assert (unseen.placed, unseen.exactly_one, unseen.struck, unseen.entries) == (False, False, True, (1, 7))
    assert (exchange.placed, exchange.exactly_one) == (True, True)


def test_a_packet_witness_that_lost_packets_has_not_seen_every_dial() -> None:
    """The kernel's count closes the strike, so there may be more dials than the one that was seen."""
    entries = [striking("syn-dropped"), dialled(0, 5001, refused=False), struck(1, Witness.SK_DROPS, 3)]
    found = attempts(held("syn-dropped"), entries)
    assert [attempt.exactly_one for attempt in found] == [False, True]


def test_a_listener_that_nobody_dialled_is_no_attempt() -> None:
    """Its strike was opened when the plan was armed, and never closed."""
    assert attempts(held("syn-dropped"), [striking("syn-dropped")]) == ()


def test_a_dropped_dial_that_gets_through_is_the_same_sending() -> None:
    """The kernel's re-sent SYN has the same source port."""
    entries = [striking("syn-dropped"), dialled(0, 5001, refused=False), opened(1, 0, 5001), *served(1, 1)]
    (attempt,) = attempts(held("syn-dropped"), entries)
    assert (attempt.start, attempt.connection, attempt.executed) == (2, 1, 6)


def test_late_entries_belong_to_their_operation() -> None:
    """After settling and healing, and told apart from the fresh operation's."""
    accounts = accounts_of(run(planned(), served(1, 1), late=served(2, 2, of=2)))
    assert [len(accounts.of(operation).attempts) for operation in (OP, FRESH)] == [2, 1]
    assert [account.operation for account in accounts.all] == [OP, FRESH]


def test_what_carries_no_operation_is_no_attempt() -> None:
    """Probes, those that a fault left unserved included, and connections on which nothing came."""
    entries = steps(
        [opened(1), probed(1), opened(4), striking("unread-never", connection=4), probed(4, 0), struck(4)],
        [opened(5), striking("unread-never", connection=5), closed(5, EndedBy.PEER)],
        [opened(6), striking("unread-late", connection=6), probed(6, 0), struck(10), probed(6)],
    )
    assert attempts(held("unread-never"), entries) == ()
    assert accounts_of(run(held("unread-never"), entries)).strays == ()


def test_work_that_was_read_and_names_no_operation_belongs_to_nobody_and_is_not_lost() -> None:
    """Also beside a faulty listener, and also where its connection had been held."""
    entries = [opened(1), striking("unread-late", connection=1), struck(2), *served(1, 1, None), *served(2, 2, None)]
    accounts = accounts_of(run(held("unread-late"), entries))
    assert (accounts.planned[0].attempts, accounts.strays) == ((), (3, 9))


def test_a_sending_without_a_number_belongs_to_the_only_operation_beside_a_faulty_listener() -> None:
    """Elsewhere it belongs to nobody, and is not lost."""
    assert len(attempts(held("unread-never"), [unserved(1, None)])) == 1
    accounts = accounts_of(run(TWO, [unserved(1, None), rejected(2)]))
    assert [account.attempts for account in accounts.planned] == [(), ()]
    assert accounts.strays == (1, 2)


def test_a_sending_that_names_its_operation_belongs_to_it() -> None:
    """Also beside a faulty listener."""
    accounts = accounts_of(run(held("unread-never"), [unserved(1, FRESH)]))
    assert (len(accounts.planned[0].attempts), len(accounts.of(FRESH).attempts)) == (0, 2)


def test_two_requests_that_cross_the_end_of_a_connection_are_two_sendings() -> None:
    """What was left unserved is not served later."""
    found = attempts(planned(), [*served(1, 1), closed(1, EndedBy.ROUTER_FIN), unserved(1), unserved(1)])
    assert [attempt.unserved for attempt in found] == [None, 7, 8]
    assert all(attempt.placed for attempt in found)


def test_entries_of_an_exchange_before_the_ledger_begins_are_ignored() -> None:
    """A ledger may be the part of a longer one."""
    assert attempts(planned(), [accepted(5), executed(5, 1), replied(5), struck(77)]) == ()


def test_operations_without_entries_have_empty_accounts() -> None:
    """Each operation of the run has an account."""
    accounts = accounts_of(replace(run(TWO, []), ledger=numbered([]), warmups=(3001,)))
    assert [(a.operation, a.attempts) for a in accounts.all] == [(3001, ()), (OP, ()), (OP + 1, ()), (FRESH, ())]
