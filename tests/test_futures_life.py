"""The model of an operation's life, and what a script is said to have exercised."""

import pytest
from msgspec import structs

from suites.futures.life import MAY_ANSWER, State
from suites.futures.lives import lives_after
from suites.futures.offer import Offer, Storage, Store, is_offer
from suites.futures.record import AnyFact, Record
from suites.futures.situations import OF_CONTAINERS, SITUATIONS, situations_in
from suites.futures.steps import Loss, Other
from suites.futures.struck import STRIKES
from suites.tinker.open_call import Departure
from tests.futures_records import (
    AGAIN,
    AS_JSON,
    BUSY,
    FAILED,
    GONE,
    REFUSED,
    RESULT,
    TERMS,
    ask,
    at,
    began,
    counted,
    disturbed,
    ended,
    landed,
    left,
    reached,
    read,
    record,
    resubmit,
    submit,
    taken,
)


def _state(*facts: AnyFact) -> State:
    return lives_after(TERMS, record(*facts).facts).state_of(0)


@pytest.mark.parametrize(
    ("facts", "state"),
    [
        ((), State.NEVER),
        ((submit(lost=Loss.UNREAD),), State.NEVER),
        ((submit(),), State.HELD),
        ((submit(), landed()), State.UNDELIVERED),
        ((submit(), landed(), at(999, counted())), State.UNDELIVERED),
        ((submit(), landed(), at(1_000, counted())), State.STALE),
        ((submit(), landed(), ask(), reached()), State.DELIVERED),
        ((submit(), landed(), ask(), reached(), at(100, counted())), State.STALE),
        ((submit(), ask(), left(), landed()), State.UNDELIVERED),
        ((submit(), ask(), left(Departure.HALF_CLOSE), landed()), State.UNDELIVERED),
        ((submit(), ask(), left(Departure.VANISH), landed()), State.DELIVERED),
        ((submit(), ask(), left(crossing=True), landed()), State.DELIVERED),
        ((submit(), ended(killed=True), began(kept=True)), State.UNDELIVERED),
        ((submit(), ended(killed=True), began(kept=False)), State.FORGOTTEN),
        # Past its TTL only a read answer tells whether it was there: what is gone was not delivered.
        ((submit(), landed(), at(1_000, ask()), reached()), State.STALE),
        ((submit(), landed(), at(1_000, ask()), reached(), read(GONE)), State.STALE),
        ((submit(), landed(), at(1_000, ask()), reached(), read(RESULT)), State.DELIVERED),
    ],
)
def test_what_must_be_retrievable_follows_from_what_callers_know(facts: tuple[AnyFact, ...], state: State) -> None:
    """From their own acts, and from the clock."""
    assert _state(*facts) is state


def test_a_reply_that_may_be_lost_on_its_way_delivers_nothing_that_is_gone() -> None:
    """A poll past the TTL, with something between server and caller, does not begin another one."""
    asked = (submit(), landed(), ask(), reached(), read(RESULT), at(100, ask(1)))
    indirect = structs.replace(TERMS, direct=False)
    assert lives_after(indirect, record(*asked).facts).state_of(0) is State.STALE
    assert lives_after(indirect, record(*asked[:-1], at(99, ask(1)), at(100, counted())).facts).state_of(0) is (
        State.DELIVERED
    )


def test_every_state_says_what_a_poll_may_be_answered() -> None:
    """A new one breaks this until it does."""
    assert set(MAY_ANSWER) == set(State)


EVERYTHING = (
    record(
        submit(), ask(), left(), landed(), at(999, ask(1)), reached(1), read(RESULT, 1), at(1_098, ask(2)), reached(2)
    ),
    record(submit(lost=Loss.UNREAD), resubmit(taken()), resubmit(taken()), resubmit(REFUSED, other=Other.SEED)),
    record(submit(), submit(lost=Loss.AT_ONCE, operation=1), at(600, resubmit(GONE))),
    record(
        submit(),
        landed(),
        ask(),
        reached(),
        read(RESULT),
        at(100, ask(1)),
        reached(1),
        read(GONE, 1),
        resubmit(taken()),
    ),
    record(submit(), landed(), resubmit(taken()), at(1_000, ask()), reached(), read(FAILED)),
    record(submit(), ask(), at(100, reached()), read(AGAIN), ask(-1, None, "12"), read(GONE, -1)),
    record(submit(), ask(), ended(), began(kept=False), ask(1), reached(1)),
    record(submit(), ask(), ask(1), ended(killed=True), began(kept=True), ask(2), reached(2)),
    record(submit(), ask(), landed(), reached(), submit(operation=1), ask(1, 1), ask(2, 1), landed(1)),
    *(record(submit(), ask(), left(how, crossing=True), landed()) for how in Departure),
    *(record(submit(), ask(), left(how)) for how in Departure),
    *(record(submit(), ask(), landed(), reached(), left(how)) for how in Departure),
    record(submit(), landed()),
    record(submit(BUSY), resubmit(taken())),
    *(record(submit(), disturbed(how), submit(operation=1)) for how in STRIKES),
    record(submit(), structs.replace(resubmit(taken()), at_once=True), landed(), ask(), reached(), read(AS_JSON)),
)


def _exercised(records: tuple[Record, ...]) -> set[str]:
    return {situation for one in records for situation in situations_in(one)}


def test_every_situation_of_the_histogram_can_be_exercised_and_no_other_is() -> None:
    """A line that could never be counted, or one that is left out, would say something false."""
    assert _exercised(EVERYTHING) == {*SITUATIONS, *OF_CONTAINERS}


def test_an_offer_is_what_a_subject_file_may_say() -> None:
    """Its options get the store and the clock that the suites choose."""
    offer = Offer(options=("--store", "{store}", "--test-clock={clock_ms}"))
    assert offer.words(Storage(store=Store.SQLITE), 7) == ["--store", "sqlite:{dir}/futures.db", "--test-clock=7"]
    assert offer.words(Storage(), 7) == ["--store", "memory", "--test-clock=7"]
    assert offer.clock
    assert offer.terms.hold_ms == 300_000
    assert not Offer().terms.clock
    refused: tuple[object, ...] = ({"hold_ms": 0}, {"hold": 1}, {"options": "x"}, {"retrieved_ms": True}, [])
    assert [one for one in refused if is_offer(one)] == []
