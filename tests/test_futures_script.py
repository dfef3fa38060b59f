"""Scripts as data: what is written is read back, and what cannot be is refused by place and value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.disturbance import Disturbing
from suites.futures.offer import Offer, Store
from suites.futures.script import Cast, Script, ScriptError, dump_script, ending, load_script, script_of
from suites.futures.steps import (
    Advance,
    AnyStep,
    Calm,
    Cross,
    Disturb,
    Heal,
    Leave,
    Loss,
    Open,
    Other,
    Poll,
    Read,
    Resubmit,
    Submit,
)
from suites.futures.struck import STRUCK
from suites.futures.told import told
from suites.tinker.open_call import Departure

TOLD = {**told(Offer()), **STRUCK}


@pytest.mark.parametrize("name", TOLD)
def test_a_script_is_read_back_as_it_was_written(name: str) -> None:
    """Also where steps have what they need not have."""
    assert load_script(dump_script(TOLD[name])) == TOLD[name]


@given(st.sampled_from(sorted(Store)), st.integers(0, 10_000), st.text(max_size=20))
def test_the_head_of_a_script_is_read_back(store: Store, max_bytes: int, name: str) -> None:
    """Whatever it holds."""
    script = script_of((Open(),), store=store, max_bytes=max_bytes, name=name)
    assert load_script(dump_script(script)) == script


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[]", "Expected `object`"),
        ('{"steps": []}', "schema"),
        ('{"schema": 2, "steps": []}', "schema is 2; this version reads 1"),
        ('{"schema": 1, "steps": [{"step": "open", "x": 1}]}', "unknown field `x` - at `$.steps[0]`"),
        ('{"schema": 1, "steps": [{"step": "close"}]}', "'close' - at `$.steps[0].step`"),
        ('{"schema": 1, "steps": [{"step": "poll", "operation": 0}]}', "steps[0]: operation 0; expected"),
        ('{"schema": 1, "steps": [{"step": "open"}, {"step": "submit", "session": 1}]}', "steps[1]: session 1"),
        ('{"schema": 1, "steps": [{"step": "advance", "ms": 0}]}', "ms is 0; expected 1 to"),
        ('{"schema": 1, "max_bytes": -1, "steps": []}', "max_bytes is -1"),
        ('{"schema": 1, "steps": [{"step": "ask", "request_id": "\\u0000"}]}', "request_id is"),
    ],
)
def test_what_is_no_script_is_refused_with_the_place(text: str, says: str) -> None:
    """One message, with what was expected."""
    with pytest.raises(ScriptError) as caught:
        load_script(text)
    assert says in str(caught.value)


def test_a_fault_that_strikes_no_exchange_is_refused() -> None:
    """So is one that is not in the catalogue."""
    for fault in ("refused", "no-such-fault"):
        with pytest.raises(ValueError, match=fault):
            Submit(session=0, faults=(fault,))


def test_other_content_has_a_reply_that_is_read() -> None:
    """It is the reply that matters there."""
    with pytest.raises(ValueError, match="one of the two"):
        Resubmit(operation=0, other=Other.SEED, lost=Loss.UNREAD)


_POLLED = (Open(), Submit(session=0), Poll(operation=0))


@pytest.mark.parametrize(
    "steps",
    [
        (*_POLLED, Leave(poll=0, how=Departure.FIN), Read(poll=0)),
        (*_POLLED, Leave(poll=1, how=Departure.FIN)),
        (*_POLLED, Heal(), Cross(poll=0, how=Departure.FIN)),
        (*_POLLED, Disturb(how=Disturbing.KILL, landing=1)),
        (*_POLLED, Disturb(how=Disturbing.KILL), Disturb(how=Disturbing.PAUSE)),
        (*_POLLED, Disturb(how=Disturbing.PAUSE, briefly=True), Calm()),
        (*_POLLED, Calm()),
    ],
)
def test_a_step_that_speaks_of_what_is_over_is_refused(steps: tuple[AnyStep, ...]) -> None:
    """With its place in the script."""
    with pytest.raises(ScriptError, match=r"steps\[\d\]"):
        script_of(steps)


def test_after_the_last_step_everybody_asks_for_what_is_theirs() -> None:
    """Who still waits reads; every operation is submitted and polled for once more."""
    cast = Cast()
    for step in (*_POLLED, Submit(session=0), Advance(ms=1)):
        cast.take(step)
    assert ending(cast) == (
        Heal(),
        Read(poll=0),
        Resubmit(operation=0),
        Poll(operation=0),
        Read(poll=1),
        Resubmit(operation=1),
        Poll(operation=1),
        Read(poll=2),
    )
    assert isinstance(script_of(()), Script)
    cast.take(Disturb(how=Disturbing.PAUSE))
    assert ending(cast)[:2] == (Calm(), Heal())
