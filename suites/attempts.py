"""Attempts: the sendings of an operation by the subject, whether or not the router could read them."""

from dataclasses import dataclass
from typing import Any

import msgspec

from fake_router.entries import Witness
from faults.catalogue import fault_named
from faults.fault import Fault
from faults.form import COMPLETION, Form
from faults.plan import Plan
from faults.under import behind, slower_ms
from faults.vocabulary import Replied


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """How a subject sees what its routers do. toxiproxy: from behind Toxiproxy. tls: it speaks TLS with them. slower:
    by how many of its shortest time-outs all that it sees may come later.
    """

    toxiproxy: bool = False
    tls: bool = False
    slower: float = 0.0

    def met(self, fault: str) -> Fault:
        """The fault of that id, as the subject sees it."""
        known = fault_named(fault)
        return behind(known, tls=self.tls, slower=self.slower) if self.toxiproxy else known


DIRECT = View()


def view_in(plan: Plan, timeout_ms: int) -> View:
    """How a subject with that time-out sees its routers in that plan."""
    late_ms = slower_ms(plan.under, max(operation.body_bytes for operation in plan.operations))
    return View(toxiproxy=plan.toxiproxy, tls=plan.tls, slower=late_ms / timeout_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class Strike:
    """A fault that was about to strike. It did strike only where `struck` names the entry that says so."""

    fault: str
    striking: int
    struck: int | None = None
    witness: Witness | None = None
    lost_bytes: int = 0
    view: View = DIRECT

    @property
    def met(self) -> Fault:
        """The fault, as the subject sees it."""
        return self.view.met(self.fault)


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleStrike:
    """The strike of a connection on which no request was under way: it belongs to no sending."""

    upstream: int | None
    connection: int
    strike: Strike

    @property
    def entries(self) -> tuple[int, ...]:
        """What says so."""
        return (self.strike.striking,) if self.strike.struck is None else (self.strike.striking, self.strike.struck)


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One sending of an operation. `received`, `accepted`, `executed`, `replying` and the like are seqs of entries,
    or None where there is none.

    start: the seq at which the sending is first seen; attempts are ordered by it, and place is its place among
    those of its operation, from 1 (0: not known yet). form: in which the router was asked for it. opened_before: its
    connection is older than the ledger.
    placed: false where nobody saw *when* it was sent (a dial that only the kernel counted, bytes that were found in a
    queue). exactly_one: false where nobody counted the sendings behind it: then it stands for at least one. peer_left:
    the subject ended its connection. body_came: how much of its body came, where its head did and not all of that;
    rejected: the router answered it as a whole request without any.
    strikes: one of the listener, one of the exchange, or both;
    what the subject saw is the first.
    """

    operation: int | None
    start: int
    upstream: int
    place: int = 0
    connection: int | None = None
    opened_before: bool = False
    exchange: int | None = None
    form: Form = COMPLETION
    body_bytes: int = 0
    body_digest: int | None = None
    content_digest: int | None = None
    nth: int | None = None
    of_operation: int | None = None
    strikes: tuple[Strike, ...] = ()
    dialled_refused: bool | None = None
    received: int | None = None
    accepted: int | None = None
    executed: int | None = None
    execution: int | None = None
    choices: int = 1
    replying: int | None = None
    status: int | None = None
    answered: int | None = None
    bytes_sent: int = 0
    whole: bool = False
    unserved: int | None = None
    body_came: int | None = None
    rejected: int | None = None
    peer_left: int | None = None
    placed: bool = True
    exactly_one: bool = True
    entries: tuple[int, ...] = ()

    @property
    def fault(self) -> str | None:
        """The id of the fault whose evidence the subject had; None: it met none."""
        return self.strikes[0].fault if self.strikes else None

    @property
    def met(self) -> Fault | None:
        """The same fault, as the subject sees it."""
        return self.strikes[0].met if self.strikes else None

    @property
    def struck(self) -> bool:
        """A fault was about to strike it, and each that was did."""
        return bool(self.strikes) and all(strike.struck is not None for strike in self.strikes)

    @property
    def replied(self) -> Replied:
        """How much of an answer is known to have been handed to the kernel."""
        if self.whole:
            return Replied.WHOLE
        return Replied.PART if self.bytes_sent else Replied.NOTHING

    @property
    def success_head(self) -> bool:
        """The router was about to send a 2xx."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def brought_a_request(self) -> bool:
        """A connection that its peer opened and closed again without a word is no sending."""
        struck = any(strike.struck is not None for strike in self.strikes)
        shown = struck or self.received or self.unserved or self.dialled_refused is not None
        return bool(shown) or self.peer_left is None

    def noted(self, *seqs: int, **facts: Any) -> "Attempt":
        """The same, with these facts and the entries that say so."""
        return msgspec.structs.replace(self, entries=(*self.entries, *seqs), **facts)
