"""A safe retry that would have succeeded is made."""

from faults.acts import strikes_idle
from faults.catalogue import fault_named
from faults.evidence import Contract
from faults.fault import Fault
from faults.plan import Plan, PlannedOperation
from faults.vocabulary import Class
from suites.accounts import Account, accounts_of
from suites.attempts import View
from suites.checks.check import Check
from suites.checks.words import count_of
from suites.findings import Claim, Finding, Proof
from suites.history import Kind
from suites.run import Run


def safe_retry_made(run: Run) -> list[Finding]:
    """An operation that met safe faults alone, and certainly knew it, fewer than the subject's budget of sendings, has
    succeeded.
    """
    accounts = accounts_of(run)
    idle = [idle.strike.met for idle in accounts.idle if idle.strike.struck is not None]
    ended = {outcome.operation: outcome.kind for outcome in run.history}
    contract = run.subject.contract
    found: list[Finding] = []
    judged = 0
    for planned, account in zip(run.plan.operations, accounts.planned, strict=False):
        if account.operation not in ended or not _met_safe_faults_alone(account, idle, contract):
            continue
        met = sum(attempt.fault is not None for attempt in account.attempts)
        more = _more_safe(planned, account, accounts.view, contract)
        if more is None or met + more >= run.subject.attempts or not _healthy_way(run.plan):
            continue
        judged += 1
        if ended[account.operation] is not Kind.OK:
            found.append(_not_made(account, met + bool(idle), run.subject.attempts))
    if found or not judged:
        return found
    return [CHECK.passes(f"{count_of(judged, 'operation')} succeeded after safe failures")]


def _met_safe_faults_alone(account: Account, idle: list[Fault], contract: Contract) -> bool:
    """The end of an idle connection costs no sending, but it is met too."""
    met = idle + [attempt.met for attempt in account.attempts if attempt.met and attempt.struck]
    return bool(met) and all(fault.shows_its_cause and fault.class_under(contract) is Class.SAFE for fault in met)


def _more_safe(planned: PlannedOperation, account: Account, view: View, contract: Contract) -> int | None:
    """How many more safe faults lie before the first healthy exchange; None where one of another class does."""
    more = 0
    for id_ in planned.faults[len(account.exchanges) :]:
        fault = view.met(id_)
        if fault.lets_pass:
            break
        if fault.class_under(contract) is not Class.SAFE:
            return None
        more += 1
    return more


def _healthy_way(plan: Plan) -> bool:
    """Some upstream has a listener that no fault holds."""
    held = {each.upstream for each in plan.listeners if not strikes_idle(fault_named(each.fault).act)}
    return None not in held and not held >= set(range(plan.upstreams))


def _not_made(account: Account, met: int, budget: int) -> Finding:
    entries = [seq for attempt in account.attempts for seq in attempt.entries]
    if not all(attempt.exactly_one for attempt in account.attempts):
        says = f"operation {account.operation} failed safely; how often it was sent is not known"
        return CHECK.cannot_know(says, entries, account.operation)
    says = (
        f"operation {account.operation} failed safely {count_of(met, 'time')} within a budget of "
        f"{count_of(budget, 'sending')}, and did not succeed"
    )
    return CHECK.fails(says, entries, account.operation)


CHECK = Check(
    name="safe-retry-made",
    claim=Claim.SHOULD,
    proof=Proof.CAUSE,
    invariant="An operation that failed only safely succeeds within the subject's budget of sendings.",
    judge=safe_retry_made,
)
