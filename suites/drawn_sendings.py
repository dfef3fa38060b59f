"""Strategies for the sending on which an operation meets its fault: its first one, or the one after a refusal."""

from dataclasses import replace

from hypothesis import strategies as st

from faults.answer import Answer
from faults.catalogue import CATALOGUE, fault_named
from faults.evidence import REFERENCE_CONTRACT
from faults.plan import Plan, PlannedOperation
from faults.vocabulary import Class
from suites.subject import SubjectSpec

REFUSED = next(  # the whole answer that is safe by its contract alone
    fault.id
    for fault in CATALOGUE.values()
    if isinstance(fault.act, Answer)
    and (fault.class_under(), fault.class_under(REFERENCE_CONTRACT)) == (Class.AMBIGUOUS, Class.SAFE)
)


def on_either_sending(plans: st.SearchStrategy[Plan], fault: str, spec: SubjectSpec) -> st.SearchStrategy[Plan]:
    """Those plans; in half of them whoever met that fault first meets it when it is sent again, where it is."""
    if not sends_again(spec):
        return plans
    return st.builds(lambda later, plan: _refused_before(plan, fault) if later else plan, st.booleans(), plans)


def sends_again(spec: SubjectSpec) -> bool:
    """Its contract says that what was refused so may be sent again, and it does that."""
    safe = fault_named(REFUSED).class_under(spec.facts.contract) is Class.SAFE
    return safe and spec.facts.attempts > 1 and REFUSED not in spec.reach


def _refused_before(plan: Plan, fault: str) -> Plan:
    return replace(plan, operations=tuple(_refused(operation, fault) for operation in plan.operations))


def _refused(operation: PlannedOperation, fault: str) -> PlannedOperation:
    """A caller that leaves does so while its first exchange is open: then that one has to meet the fault."""
    if operation.faults[:1] != (fault,) or operation.leaves is not None:
        return operation
    return replace(operation, faults=(REFUSED, *operation.faults))
