"""A check: one property of a finished run, with the name and the claim under which its findings appear."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from suites.findings import Claim, Finding, Proof, Verdict
from suites.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """What is claimed. `invariant` is the sentence that a report shows."""

    name: str
    claim: Claim
    proof: Proof
    invariant: str

    def passes(self, says: str, entries: Iterable[int] = (), operation: int | None = None) -> Finding:
        """The run shows that the property holds."""
        return self._finding(Verdict.PASS, says, entries, operation)

    def cannot_know(self, says: str, entries: Iterable[int] = (), operation: int | None = None) -> Finding:
        """The run does not show whether the property holds."""
        return self._finding(Verdict.UNKNOWN, says, entries, operation)

    def fails(
        self, says: str, entries: Iterable[int] = (), operation: int | None = None, *, proof: Proof | None = None
    ) -> Finding:
        """The run shows that the property does not hold. proof: what this finding rests on, where that is not what its
        kind usually does.
        """
        found = self._finding(Verdict.FAIL, says, entries, operation)
        return found if proof is None else replace(found, proof=proof)

    def _finding(self, verdict: Verdict, says: str, entries: Iterable[int], operation: int | None) -> Finding:
        return Finding(
            check=self.name,
            claim=self.claim,
            verdict=verdict,
            says=says,
            entries=tuple(sorted(set(entries))),
            operation=operation,
            proof=self.proof,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Check(Property):
    """One property of one run. `judge` is pure, and returns nothing where the run holds nothing that the property
    is about.
    """

    judge: Callable[[Run], list[Finding]]
