"""A future's life is one table, and the documents show it."""

from pathlib import Path

import pytest

from forwarder.futures import page
from forwarder.futures.states import ALIVE, KEPT, TRANSITIONS, Event, ImpossibleError, State, after

S = State

# What each event does to a future in each state, written out once more, in the order of Event; "-" cannot happen.
EXPECTED = {
    S.ACCEPTING: "PENDING FORGOTTEN - - - - - -",
    S.PENDING: "- FORGOTTEN LANDING - - - - LANDING",
    S.LANDING: "- - - UNDELIVERED - - - -",
    S.UNDELIVERED: "- - - - DELIVERED EXPIRED - UNDELIVERED",
    S.DELIVERED: "- - - - DELIVERED EVICTED - DELIVERED",
    S.EVICTED: "- - - - EVICTED - FORGOTTEN EVICTED",
    S.EXPIRED: "- - - - EVICTED - FORGOTTEN EXPIRED",
    S.FORGOTTEN: "- - - - FORGOTTEN - - -",
}


def test_each_event_moves_a_future_in_each_state_or_cannot_happen() -> None:
    """A new state or event breaks this until it is placed."""
    assert list(EXPECTED) == list(State)
    for state, line in EXPECTED.items():
        for event, became in zip(Event, line.split(), strict=True):
            if became == "-":
                with pytest.raises(ImpossibleError, match=event.name):
                    after(state, event)
            else:
                assert after(state, event) is State[became]


def test_what_is_gone_never_comes_back() -> None:
    """No event leads from a state without an outcome to keep to one that has it, but those on the way there."""
    gone = set(State) - ALIVE - {State.ACCEPTING}
    assert all(new in gone for (old, _), new in TRANSITIONS.items() if old in gone)


def test_an_outcome_is_told_only_after_it_has_landed() -> None:
    """The one way from outside into the states whose outcome polls get is LANDED."""
    assert {event for (old, event), new in TRANSITIONS.items() if new in KEPT and old not in KEPT} == {Event.LANDED}


def test_the_document_shows_the_table_and_the_times_as_the_code_has_them() -> None:
    """Write it again with: python -m forwarder.futures.page docs/futures.md"""
    document = (Path(__file__).parent.parent / "docs" / "futures.md").read_text()
    assert page.written_in(document) == document
    assert all(f"{old.name} --> {new.name}: {event.name}" in document for (old, event), new in TRANSITIONS.items())


def test_a_page_without_its_places_is_refused() -> None:
    """Nothing is left out silently."""
    with pytest.raises(ValueError, match="'diagram' is not once in the page"):
        page.written_in("# Futures")
