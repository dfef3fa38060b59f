"""The toxics, and what is done to containers, that are armed as faults: what the router does at their point, and what
it can say about their strikes.

Toxiproxy, or Docker, is told by whoever runs the plan, when an exchange is held at the poison's gate.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from fake_router.entries import Striking, Struck, Witness
from fake_router.injector import ListenerStep
from fake_router.ledger import Ledger
from faults.acts import BetweenAct
from faults.disturbance import Disturb
from faults.poison import Poisoning


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pending:
    """A strike that was opened. over: whether the connection has ended by now."""

    upstream: int
    striking: int
    act: BetweenAct
    over: Callable[[], bool]


class Poisons:
    """The strikes of toxics that wait for their witness."""

    def __init__(self) -> None:
        self._pending: list[_Pending] = []
        self._open_when_set: set[int] = set()  # strikes whose connection was open when their toxic was set

    def setting(self, upstream: int, *, begun: bool) -> None:
        """Toxiproxy is about to set the toxic there (begun), or has done it. What was over before is not its doing;
        `down` ends connections while it is being set.
        """
        for one in self._pending:
            ends_at_once = isinstance(one.act, Disturb) or one.act.toxic is Poisoning.DOWN
            if one.upstream == upstream and begun is ends_at_once and not one.over():
                self._open_when_set.add(one.striking)

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
        assert isinstance(step.act, BetweenAct), "the injector has seen to that"
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

    def over(self) -> set[int]:
        """Those of them where a connection of a strike has ended by now."""
        return {one.upstream for one in self._pending if one.over()}

    def disturbed(self, ledger: Ledger) -> None:
        """An engine says that what was to be done to a container was done, and is so: it struck what was open then."""
        for one in [one for one in self._pending if isinstance(one.act, Disturb)]:
            self._pending.remove(one)
            if one.striking in self._open_when_set:
                ledger.record(Struck, striking=one.striking, witness=Witness.ENGINE)

    def settle(self, ledger: Ledger, *, lost: Mapping[int, int], in_force: Collection[int]) -> None:
        """Record of each whether it struck. lost: how many bytes came to Toxiproxy on the way to each upstream, and
        never left it; in_force: those on whose way it says that the toxic is set.
        """
        for one in self._pending:
            act = one.act
            if isinstance(act, Disturb) or one.upstream not in in_force or not one.over():
                continue
            if act.holds and one.striking not in self._open_when_set:
                continue
            if not act.loses_bytes:
                ledger.record(Struck, striking=one.striking, witness=Witness.ENDED)
            elif one.upstream in lost:
                lost_bytes = lost[one.upstream]
                ledger.record(Struck, striking=one.striking, witness=Witness.LOST, lost_bytes=lost_bytes)
        self._pending.clear()
        self._open_when_set.clear()
