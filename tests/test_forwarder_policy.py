"""The policies as data: what each sends again, how often, and after which pause."""

import pytest

from forwarder.evidence import TABLE, Evidence, Kind, Proves
from forwarder.policy import (
    BLANKET_5XX,
    CONNECT_KINDS,
    NEVER,
    POLICIES,
    SAFE,
    Policy,
    UnknownPolicyError,
    policy_named,
)

EVERYTHING = Policy(name="everything", says="for these tests", sends_again=frozenset(Kind), attempts=4, backoff_ms=10)


def _failed(kind: Kind, retry_after_s: float | None = None) -> Evidence:
    return Evidence(kind=kind, says="", retry_after_s=retry_after_s)


@pytest.mark.parametrize("kind", Kind)
def test_safe_sends_again_exactly_what_was_never_applied(kind: Kind) -> None:
    """Once, and nothing else."""
    pause_s = SAFE.pause_s([_failed(kind)])
    assert (pause_s is not None) == (TABLE[kind][0] is Proves.NOT_EXECUTED)
    assert SAFE.pause_s([_failed(Kind.CONNECT), _failed(kind)]) is None


@pytest.mark.parametrize("kind", Kind)
def test_blanket_5xx_sends_again_failed_connects_and_every_5xx(kind: Kind) -> None:
    """That is what makes it unsafe: a 5xx may come after the work."""
    again = BLANKET_5XX.pause_s([_failed(kind)]) is not None
    assert again == (kind in CONNECT_KINDS or kind in (Kind.SERVER_ERROR, Kind.NOT_ACCEPTED))


@pytest.mark.parametrize("kind", Kind)
def test_never_sends_nothing_again(kind: Kind) -> None:
    """Not even what is proven to be safe."""
    assert NEVER.pause_s([_failed(kind)]) is None


def test_the_pause_grows_and_the_attempts_end() -> None:
    """Each pause is twice the one before, until the budget is used up."""
    refused = _failed(Kind.CONNECT)
    assert [EVERYTHING.pause_s([refused] * n) for n in (1, 2, 3, 4)] == [0.01, 0.02, 0.04, None]


@pytest.mark.parametrize("between", [[], [Kind.CONNECT]])
def test_a_status_that_says_not_applied_is_repeated_once_an_operation(between: list[Kind]) -> None:
    """However many attempts the policy allows (RFC 8470 s5.2)."""
    once = [_failed(Kind.NOT_APPLIED)]
    assert EVERYTHING.pause_s(once) is not None
    assert EVERYTHING.pause_s([*once, *map(_failed, between), _failed(Kind.NOT_APPLIED)]) is None
    assert EVERYTHING.pause_s([*once, _failed(Kind.CONNECT)]) is not None


@pytest.mark.parametrize(
    ("kind", "retry_after_s", "pause_s"),
    [
        (Kind.NOT_ACCEPTED, 2.0, 2.0),
        (Kind.NOT_ACCEPTED, 3600.0, 5.0),
        (Kind.NOT_ACCEPTED, 0.0, 0.01),
        (Kind.NOT_ACCEPTED, None, 0.01),
        (Kind.SERVER_ERROR, 2.0, 0.01),
    ],
)
def test_retry_after_is_honoured_on_contract_answers_up_to_a_cap(
    kind: Kind, retry_after_s: float | None, pause_s: float
) -> None:
    """It never shortens the pause, and on any other answer it is no proof and no order."""
    assert EVERYTHING.pause_s([_failed(kind, retry_after_s)]) == pause_s


def test_three_policies_ship_by_name() -> None:
    """And a wrong name is answered with the right ones."""
    assert [policy_named(name) for name in ("safe", "blanket-5xx", "never")] == list(POLICIES.values())
    with pytest.raises(UnknownPolicyError, match=r"'blanket'; expected one of safe, blanket-5xx, never; did you mean"):
        policy_named("blanket")


@pytest.mark.parametrize("wrong", [{"attempts": 0}, {"backoff_ms": -1}, {"retry_after_cap_s": -0.1}])
def test_a_policy_that_cannot_be_is_refused(wrong: dict[str, int]) -> None:
    """At least one attempt, and no negative time."""
    with pytest.raises(ValueError, match="expected"):
        Policy(name="x", says="", sends_again=frozenset(), **wrong)  # type: ignore[arg-type]
