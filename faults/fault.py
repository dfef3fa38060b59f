"""One fault: what goes wrong at which point, with its authority and its twin. What can be derived is not stored."""

from dataclasses import dataclass

from faults.acts import HEALTHY, Act
from faults.coverage import ONCE, Coverage
from faults.evidence import NO_CONTRACT, Contract, Evidence, classify
from faults.sight import evidence_of, shows_its_cause, sight_is_certain
from faults.truth import Truth, phase_of, truth_of
from faults.vocabulary import Class, Phase

RFC_RETRY = "RFC 9110 s9.2.2: no automatic retry without means to detect that it was never applied"

RAN = "FINAL: the work is known to have run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that can go wrong, at one point, exactly described.

    `twin` names a fault with the same evidence and the opposite truth; `no_twin` says why there is none.
    `row` is the name of the failure point (letter and number, in wire order) in docs/failure-points.md; `row_reused`
    that of the point at which it strikes a connection that has carried an exchange, where that is another. `coverage`
    says which of its cells are lived through at which depth. seen: the act that looks to the forwarder as this one does
    (None: this one), and slower by how many read timeouts more all that it sees comes late (`faults/under.py`).
    """

    id: str
    says: str
    act: Act
    row: str
    authority: str
    twin: str | None = None
    no_twin: str = ""
    row_reused: str = ""
    coverage: Coverage = ONCE
    seen: Act | None = None
    slower: float = 0.0

    @property
    def rows(self) -> tuple[str, ...]:
        """The failure points that it stands for."""
        return (self.row, self.row_reused) if self.row_reused else (self.row,)

    @property
    def lets_pass(self) -> bool:
        """Nothing goes wrong: it stands in plans for an exchange that is served well."""
        return self.act == HEALTHY

    @property
    def phase(self) -> Phase:
        """Where in wire order it strikes."""
        return phase_of(self.act)

    @property
    def truth(self) -> Truth:
        """What the ledger must say of it."""
        return truth_of(self.act)

    @property
    def evidence(self) -> Evidence:
        """What the forwarder has in hand afterwards."""
        return evidence_of(self.seen or self.act)

    @property
    def shows_its_cause(self) -> bool:
        """The forwarder certainly had that evidence."""
        return shows_its_cause(self.seen or self.act)

    @property
    def sight_is_certain(self) -> bool:
        """It sees the same on every machine."""
        return sight_is_certain(self.act, self.slower)

    def class_under(self, contract: Contract = NO_CONTRACT) -> Class:
        """What that evidence proves to a forwarder behind whose router this contract holds."""
        return classify(self.evidence, contract)
