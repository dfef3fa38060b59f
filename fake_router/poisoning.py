"""The toxics that are armed as faults: what the router does at their point, and what it can say about their strikes.

Toxiproxy itself is told by whoever runs the plan, when an exchange is held at the poison's gate.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from fake_router.entries import Striking, Struck, Witness
from fake_router.injector import ListenerStep
from fake_router.ledger import Ledger
from faults.poison import Poison, Poisoning


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pending:
    """A strike that was opened. over: whether the connection has ended by now."""

    upstream: int
    striking: int
    act: Poison
    over: Callable[[], bool]


class Poisons:
    """The strikes of toxics that wait for their witness."""

    def __init__(self) -> None:
        self._pending: list[_Pending] = []

    def open_strike(
        self,
        ledger: Ledger,
        step: ListenerStep,
        connection: int,
        over: Callable[[], bool],
        *,
        exchange: int | None = None,
        operation: int | None,
    ) -> int:
        """Say in the ledger that it is about to strike; whether it did is said when the run has settled."""
        assert isinstance(step.act, Poison), "the injector has seen to that"
        striking = ledger.record(
            Striking,
            fault=step.fault,
            upstream=step.upstream,
            connection=connection,
            exchange=exchange,
            operation=operation,
        )
        self._pending.append(_Pending(upstream=step.upstream, striking=striking, act=step.act, over=over))
        return striking

    def upstreams(self) -> set[int]:
        """Those on whose way something may have struck."""
        return {one.upstream for one in self._pending}

    def over(self, upstream: int) -> bool:
        """A connection of a strike there has ended by now."""
        return any(one.upstream == upstream and one.over() for one in self._pending)

    def settle(self, ledger: Ledger, *, lost: Collection[int], in_force: Collection[int]) -> None:
        """Record of each whether it struck. lost: the upstreams on whose way Toxiproxy counted bytes that came to it
        and never left it; in_force: those on whose way it says that the toxic is set.
        """
        for one in self._pending:
            act = one.act
            if one.upstream not in in_force or not (one.over() or act.toxic is Poisoning.SLOW_CLOSE):
                continue
            if not act.loses_bytes:
                ledger.record(Struck, striking=one.striking, witness=Witness.ENDED)
            elif one.upstream in lost:
                ledger.record(Struck, striking=one.striking, witness=Witness.LOST)
        self._pending.clear()
