"""The retry policy is data: which evidence is sent again, how often, and how long to wait before it."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from forwarder.evidence import TABLE, Evidence, Kind, Marker, Proves

NO_WORKERS = Marker(status=503, text="No available workers")
CONNECT_KINDS = frozenset({Kind.UNSENT, Kind.DNS, Kind.CONNECT, Kind.CONNECT_TIMEOUT, Kind.TLS})


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """One policy. attempts: sendings in all, the first included. backoff_ms: the pause before the second attempt;
    it doubles for each one after. contract: the answers that the router publishes as "not accepted".
    retry_after_cap_s: how much of a Retry-After on such an answer is waited for.

    Raises ValueError for attempts below 1 and negative times.
    """

    name: str
    says: str
    sends_again: frozenset[Kind]
    attempts: int = 2
    backoff_ms: int = 25
    retry_after_cap_s: float = 5.0
    contract: tuple[Marker, ...] = (NO_WORKERS,)

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise ValueError(f"attempts is {self.attempts!r}; expected 1 (never again) or more")
        if self.backoff_ms < 0 or self.retry_after_cap_s < 0:
            raise ValueError(
                f"backoff_ms {self.backoff_ms!r}, retry_after_cap_s {self.retry_after_cap_s!r}; expected 0 or more"
            )

    def pause_s(self, failures: Sequence[Evidence]) -> float | None:
        """Seconds to wait before the next attempt after these failures, the last one first in mind; None: give up."""
        last = failures[-1]
        if len(failures) >= self.attempts or last.kind not in self.sends_again:
            return None
        if last.kind is Kind.NOT_APPLIED and any(past.kind is Kind.NOT_APPLIED for past in failures[:-1]):
            return None  # once an operation: RFC 8470 s5.2 forbids a second 425 loop, and 408 MAY be repeated, not must
        pause_s: float = self.backoff_ms * 2 ** (len(failures) - 1) / 1000
        if last.kind is Kind.NOT_ACCEPTED and last.retry_after_s is not None:
            return max(pause_s, min(last.retry_after_s, self.retry_after_cap_s))
        return pause_s


SAFE = Policy(
    name="safe",
    says="sends again, once, what the evidence proves was never applied",
    sends_again=frozenset(kind for kind, (proves, _) in TABLE.items() if proves is Proves.NOT_EXECUTED),
)
BLANKET_5XX = Policy(
    name="blanket-5xx",
    says="sends again, once, after a failed connect and after every 5xx: what teams write first, and unsafe",
    sends_again=CONNECT_KINDS | {Kind.SERVER_ERROR, Kind.NOT_ACCEPTED},
)
NEVER = Policy(name="never", says="sends nothing again", sends_again=frozenset(), attempts=1)

POLICIES = {policy.name: policy for policy in (SAFE, BLANKET_5XX, NEVER)}


class UnknownPolicyError(ValueError):
    """No policy of that name ships."""


def policy_named(name: str) -> Policy:
    """The policy that ships under that name. Raises UnknownPolicyError with the names that exist."""
    try:
        return POLICIES[name]
    except KeyError:
        near = get_close_matches(name, POLICIES, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise UnknownPolicyError(f"policy {name!r}; expected one of {', '.join(POLICIES)}{hint}") from None
