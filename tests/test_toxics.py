"""Toxics are data; parameters that would break Toxiproxy, or mean nothing, cannot be built."""

from collections.abc import Callable
from typing import get_args

import pytest

from faults.toxics import (
    Bandwidth,
    Direction,
    Latency,
    LimitData,
    OneWayToxic,
    ResetPeer,
    Slicer,
    SlowClose,
    Timeout,
    Toxic,
)
from suites.toxiproxy.answers import in_its_words

WORDS: dict[OneWayToxic, tuple[str, dict[str, int]]] = {
    Latency(latency_ms=20, jitter_ms=5): ("latency", {"latency": 20, "jitter": 5}),
    Bandwidth(rate_kbytes_s=3): ("bandwidth", {"rate": 3}),
    Slicer(average_bytes=10, variation_bytes=9, delay_us=7): (
        "slicer",
        {"average_size": 10, "size_variation": 9, "delay": 7},
    ),
    SlowClose(delay_ms=4): ("slow_close", {"delay": 4}),
    Timeout(timeout_ms=0): ("timeout", {"timeout": 0}),
    ResetPeer(timeout_ms=6): ("reset_peer", {"timeout": 6}),
    LimitData(limit_bytes=0): ("limit_data", {"bytes": 0}),
}


def test_every_toxic_has_its_words() -> None:
    """A new one breaks this until it has."""
    assert {type(toxic) for toxic in WORDS} == set(get_args(OneWayToxic))
    assert set(get_args(Toxic)) >= set(get_args(OneWayToxic))


@pytest.mark.parametrize(("toxic", "words"), WORDS.items(), ids=lambda value: type(value).__name__)
def test_a_toxic_is_said_in_the_words_of_toxiproxy(toxic: OneWayToxic, words: tuple[str, dict[str, int]]) -> None:
    """Type and attributes; a misspelt attribute is ignored by its server, and would strike nothing."""
    assert in_its_words(toxic) == words


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: Latency(latency_ms=-1), "latency_ms is -1; expected a whole number from 0 to 600000"),
        (lambda: Latency(latency_ms=10, jitter_ms=11), "jitter_ms is 11; expected a whole number from 0 to 10"),
        (lambda: Latency(latency_ms=True), "latency_ms is True"),
        (lambda: Bandwidth(rate_kbytes_s=0), "rate_kbytes_s is 0"),
        (lambda: Slicer(average_bytes=0), "average_bytes is 0"),
        (lambda: Slicer(average_bytes=5, variation_bytes=5), "variation_bytes is 5; expected .* to 4"),
        (lambda: Slicer(average_bytes=5, delay_us=-1), "delay_us is -1"),
        (lambda: SlowClose(delay_ms=600_001), "delay_ms is 600001"),
        (lambda: Timeout(timeout_ms=-1), "timeout_ms is -1"),
        (lambda: ResetPeer(timeout_ms=1.5), "timeout_ms is 1.5"),  # type: ignore[arg-type]  # the mistake itself
        (lambda: LimitData(limit_bytes=-1), "limit_bytes is -1"),
        (lambda: ResetPeer(toxicity=2), "toxicity is 2; expected a whole number from 0 to 1"),
        (lambda: ResetPeer(toxicity=0.5), "toxicity is 0.5"),  # type: ignore[arg-type]  # the mistake itself
        (lambda: ResetPeer(direction="up"), "direction is 'up'"),  # type: ignore[arg-type]  # the mistake itself
    ],
)
def test_parameters_out_of_range_are_refused_by_name_and_value(build: Callable[[], Toxic], says: str) -> None:
    """The message says which, and what was expected."""
    with pytest.raises(ValueError, match=says):
        build()


def test_the_direction_is_downstream_unless_it_is_said() -> None:
    """As Toxiproxy has it."""
    assert Timeout(timeout_ms=0).direction is Direction.DOWNSTREAM
