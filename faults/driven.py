"""What of a plan only a driver of both ends can do: a router alone strikes, and no caller and no pool obeys it."""

from faults.acts import HoldPool
from faults.catalogue import fault_named
from faults.plan import Plan, PlanError

_INSTEAD = "live through such a plan with `retryproof replay`, or the fixture `bench`"


def refuse_undriven(plan: Plan) -> None:
    """Where nobody drives the callers and the subject. Raises PlanError."""
    for index, operation in enumerate(plan.operations):
        if operation.leaves is not None:
            raise PlanError(
                f"operation {index} has leaves {operation.leaves.value!r}; expected null: its caller is "
                f"not ours to end ({_INSTEAD})"
            )
    if plan.toxiproxy or plan.under:
        raise PlanError(f"a plan under Toxiproxy; expected one for a direct way: nobody here sets a toxic ({_INSTEAD})")
    for id_ in plan.faults:
        if isinstance(fault_named(id_).act, HoldPool):
            raise PlanError(
                f"fault {id_!r}; expected one that a router alone can make strike: this one needs a call of ours that "
                f"holds the connection of the subject's pool ({_INSTEAD})"
            )
