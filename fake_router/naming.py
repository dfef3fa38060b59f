"""A fault of name resolution, from its arming to its healing: the name server of ours is its witness."""

from fake_router.entries import Asked, Striking, Struck, Witness
from fake_router.injector import ListenerStep
from fake_router.ledger import Ledger
from fake_router.name_server import NameServer
from faults.acts import Misresolve


class NameFault:
    """One upstream whose name does not lead to it. A resolver may ask several times for one dial, so the number of
    questions is no number of attempts.
    """

    fileno = None  # it is told, and need not be polled

    def __init__(self, ledger: Ledger, step: ListenerStep, act: Misresolve, names: NameServer) -> None:
        self._ledger = ledger
        self._upstream = step.upstream
        self._how = act.how
        self._names = names
        self._questions = 0
        self._settled = False
        self._striking = ledger.record(Striking, fault=step.fault, upstream=step.upstream, operation=step.operation)
        names.misresolve(step.upstream, act.how, self._asked)

    def _asked(self, question: str) -> None:
        self._questions += 1
        self._ledger.record(Asked, upstream=self._upstream, question=question, answer=self._how)

    def poll(self) -> None:
        """Nothing has to be asked for."""

    def settle(self, *, excluded: bool) -> None:
        """Record whether it struck, once."""
        del excluded  # it needs no witness but the one who answered
        if self._questions and not self._settled:
            self._settled = True
            self._ledger.record(Struck, striking=self._striking, witness=Witness.QUESTION, count=self._questions)

    def close(self) -> None:
        """The name leads to its upstream again. Safe to call twice."""
        self._names.heal(self._upstream)
