"""A request is sent only to a router whose certificate is good."""

from faults.catalogue import fault_named
from faults.truth import asks_for_refusal
from suites.accounts import accounts_of
from suites.checks.check import Check
from suites.checks.words import count_of, name_of
from suites.findings import Claim, Finding, Proof
from suites.run import Run


def verifies(run: Run) -> list[Finding]:
    """A request that was read under a certificate that had to be refused is proof: its sender does not verify."""
    found: list[Finding] = []
    refused = 0
    for account in accounts_of(run).all:
        for attempt in account.attempts:
            asked = [strike for strike in attempt.strikes if asks_for_refusal(fault_named(strike.fault).act)]
            refused += sum(strike.struck is not None for strike in asked)
            if asked and attempt.received is not None:
                says = f"operation {account.operation} was sent ({name_of(attempt)}) in spite of {asked[0].fault!r}"
                found.append(CHECK.fails(says, attempt.entries, account.operation))
    if found or not refused:
        return found
    return [CHECK.passes(f"{count_of(refused, 'connection')} refused for a certificate, without a request")]


CHECK = Check(
    name="verifies",
    claim=Claim.MUST,
    proof=Proof.LEDGER,
    invariant="No request is sent under a certificate of another name, an expired one, or one of an unknown CA "
    "(RFC 9110 s4.3.4).",
    judge=verifies,
)
