"""The fault that strikes inside the forwarder, before anything leaves it."""

from faults.acts import HoldPool
from faults.coverage import Coverage, Dimension
from faults.fault import Fault


def pool_faults() -> list[Fault]:
    """Another operation holds the only connection that the forwarder's pool may have."""
    return [
        Fault(
            id="pool-wait",
            says="another operation holds the only connection of the forwarder's pool, for a third of the read timeout",
            act=HoldPool(),
            row="C0",
            authority="no byte of the request was sent: it has not left the forwarder",
            no_twin="SAFE evidence: it proves that nothing was applied",
            coverage=Coverage(deep=frozenset({Dimension.FIRST_OF_TWO, Dimension.FIRST_OF_TWO_TLS})),
        )
    ]
