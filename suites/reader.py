"""Reads attempts off a ledger: every entry finds the sending that it is about, however late it comes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from fake_router.entries import (
    Accepted,
    AnyEntry,
    Asked,
    Closed,
    Dialled,
    EndedBy,
    Executed,
    Greeted,
    Marked,
    Opened,
    Probed,
    Received,
    Rejected,
    Replied,
    Replying,
    Sighted,
    Striking,
    Struck,
    Unserved,
)
from faults.acts import is_listener_act, strikes_idle
from faults.catalogue import fault_named, is_fault
from faults.disturbance import Disturb
from faults.form import AboutPrompt, Api, Form, form_of
from faults.poison import Poison
from suites.attempts import DIRECT, Attempt, IdleStrike, Strike, View
from suites.dials import Dials


@dataclass(slots=True, kw_only=True)
class Reader:
    """Reads entries in order of `seq`. Attempts are named by their place in `attempts`."""

    struck: dict[int, Struck]
    view: View = DIRECT
    attempts: list[Attempt] = field(default_factory=list)
    probes: set[int] = field(default_factory=set)  # places of what turned out to be no attempt
    opened: dict[int, Opened] = field(default_factory=dict)
    of_exchange: dict[int, int] = field(default_factory=dict)
    unread: dict[int, int] = field(default_factory=dict)  # connection -> a sending on it that was not read yet
    on_connection: dict[int, list[int]] = field(default_factory=dict)
    closed: set[int] = field(default_factory=set)
    has_settled: bool = False  # what is found from then on may have lain there
    rejected: list[int] = field(default_factory=list)
    idle: list[IdleStrike] = field(default_factory=list)
    dials: Dials = field(init=False)

    def __post_init__(self) -> None:
        self.dials = Dials(self.attempts)

    @staticmethod
    def of(ledger: Sequence[AnyEntry], view: View = DIRECT) -> "Reader":
        """A reader that has read all of that ledger, of a subject with that view of its routers."""
        reader = Reader(struck={entry.striking: entry for entry in ledger if isinstance(entry, Struck)}, view=view)
        for entry in sorted(ledger, key=lambda entry: entry.seq):
            reader.read(entry)
        return reader

    def read(self, entry: AnyEntry) -> None:
        """Take the next entry."""
        match entry:
            case Opened():
                self._opened(entry)
            case Dialled():
                self.dials.dialled(entry)
            case Asked():
                self.dials.asked(entry)
            case Striking():
                self._striking(entry)
            case Received():
                self._received(entry)
            case Unserved():
                self._unserved(entry)
            case Closed():
                self._closed(entry)
            case Probed():
                self._forget(entry.connection)
            case Rejected():
                self._rejected(entry)
            case Accepted() | Executed() | Replying() | Replied():
                self._happened(entry)
            case Marked():
                self.has_settled = entry.mark == "settled" or (self.has_settled and entry.mark != "armed")
            case Greeted() | Sighted() | Struck():
                pass

    def finished(self) -> list[Attempt]:
        """All attempts, with those dials at their head that nobody saw one by one."""
        came = [a for place, a in enumerate(self.attempts) if place not in self.probes and a.brought_a_request]
        return self.dials.unseen() + came

    def _opened(self, entry: Opened) -> None:
        self.opened[entry.connection] = entry
        # A dropped SYN is sent again by the kernel; when it gets through, it is still the same dial.
        place = self.dials.dropped.pop((entry.upstream, entry.peer_port), None)
        if place is not None:
            self.unread[entry.connection] = place
            self.on_connection.setdefault(entry.connection, []).append(place)
            self._note(place, entry.seq, connection=entry.connection)

    def _striking(self, entry: Striking) -> None:
        strike = self._strike(entry)
        seqs = (entry.seq,) if strike.struck is None else (entry.seq, strike.struck)
        act = fault_named(entry.fault).act if is_fault(entry.fault) else None
        of_listener = act is not None and is_listener_act(act)
        if act is not None and entry.connection is not None and strikes_idle(act):
            self.idle.append(IdleStrike(upstream=entry.upstream, connection=entry.connection, strike=strike))
        elif entry.exchange is not None and (entry.exchange in self.of_exchange or not of_listener):
            place = self.of_exchange.get(entry.exchange)
            if place is not None:
                self._note(place, *seqs, strikes=(*self.attempts[place].strikes, strike))
        elif isinstance(act, Poison) and entry.exchange is None and strike.struck is None and not act.strikes_dials:
            pass  # nothing was sent on that connection while the toxic was set
        elif entry.connection is not None:
            # A connection may be held before a request comes on it; the strike is closed when one has come.
            # Of a toxic, it is closed only when the run has settled.
            begins = entry.seq if isinstance(act, Poison) else max(seqs)
            place = self._unread_on(entry.connection, entry.upstream, entry.operation, begins)
            self._note(place, *seqs, placed=True, strikes=(*self.attempts[place].strikes, strike))
            if entry.exchange is not None:  # answered before it was read
                self.of_exchange[entry.exchange] = place
        elif isinstance(act, Disturb):
            pass  # it struck whoever was called meanwhile, and no connection to the router
        elif entry.upstream is not None:
            self.dials.struck[entry.upstream] = strike

    def _strike(self, entry: Striking) -> Strike:
        struck = self.struck.get(entry.seq)
        if struck is None or struck.count < 1:
            return Strike(fault=entry.fault, striking=entry.seq, view=self.view)
        return Strike(
            fault=entry.fault,
            striking=entry.seq,
            struck=struck.seq,
            witness=struck.witness,
            lost_bytes=struck.lost_bytes,
            view=self.view,
        )

    def _received(self, entry: Received) -> None:
        self._close_unserved(entry.connection)
        place = self._unread_on(entry.connection, entry.upstream, entry.operation, entry.seq)
        del self.unread[entry.connection]
        self.of_exchange[entry.exchange] = place
        self._note(
            place,
            entry.seq,
            operation=entry.operation,
            received=entry.seq,
            exchange=entry.exchange,
            nth=entry.nth,
            of_operation=entry.of_operation,
            form=_form_of(entry),
            body_bytes=entry.body_bytes,
            body_digest=entry.body_digest,
            content_digest=entry.content_digest,
        )

    def _unserved(self, entry: Unserved) -> None:
        # On a connection that had been read from, or ended, it was seen when it came, as on any that was read from
        # until the run had settled; else it may have lain there.
        known = entry.connection in self.closed or entry.connection in self.on_connection
        placed = known or (entry.body_bytes is not None and not self.has_settled)
        self._close_unserved(entry.connection)
        place = self._unread_on(entry.connection, entry.upstream, entry.operation, entry.seq)
        attempt = self.attempts[place]
        operation = attempt.operation if entry.operation is None else entry.operation
        facts = {"operation": operation, "placed": placed, "body_came": entry.body_bytes}
        self._note(place, entry.seq, unserved=entry.seq, **facts)

    def _rejected(self, entry: Rejected) -> None:
        """A whole request without a body may be an operation's that was sent without it; all else is nobody's."""
        if entry.body_bytes != 0:
            self.rejected.append(entry.seq)
            return
        self._close_unserved(entry.connection)
        place = self._unread_on(entry.connection, entry.upstream, None, entry.seq)
        self._note(place, entry.seq, unserved=entry.seq, rejected=entry.seq, body_came=0)

    def _unread_on(self, connection: int, upstream: int | None, operation: int | None, seq: int) -> int:
        """The sending on that connection whose end is not known yet, or else a new one that begins at `seq`."""
        place = self.unread.get(connection)
        if place is not None:
            return place
        opened = self.opened.get(connection)
        where = upstream if upstream is not None else (0 if opened is None else opened.upstream)
        self.attempts.append(
            Attempt(
                operation=operation,
                start=seq,
                upstream=where,
                connection=connection,
                opened_before=opened is None,
            )
        )
        place = len(self.attempts) - 1
        self.unread[connection] = place
        self.on_connection.setdefault(connection, []).append(place)
        return place

    def _close_unserved(self, connection: int) -> None:
        """What was left unserved is not served later: what comes now is another sending."""
        place = self.unread.get(connection)
        if place is not None and self.attempts[place].unserved is not None:
            del self.unread[connection]

    def _closed(self, entry: Closed) -> None:
        self.closed.add(entry.connection)
        if entry.by is EndedBy.PEER:
            for place in self.on_connection.get(entry.connection, ()):
                self._note(place, peer_left=entry.seq)

    def _forget(self, connection: int) -> None:
        """What was on its way on that connection was a probe."""
        place = self.unread.pop(connection, None)
        if place is not None:
            self.probes.add(place)

    def _note(self, place: int, *seqs: int, **facts: Any) -> None:
        self.attempts[place] = self.attempts[place].noted(*seqs, **facts)

    def _happened(self, entry: Accepted | Executed | Replying | Replied) -> None:
        place = self.of_exchange.get(entry.exchange)
        if place is None:
            return  # of an exchange before this ledger begins
        match entry:
            case Accepted():
                self._note(place, entry.seq, accepted=entry.seq)
            case Executed():
                self._note(place, entry.seq, executed=entry.seq, execution=entry.execution, choices=entry.choices)
            case Replying():
                self._note(place, entry.seq, replying=entry.seq, status=entry.status)
            case Replied():
                self._note(place, entry.seq, answered=entry.seq, bytes_sent=entry.bytes_sent, whole=entry.whole)


def _form_of(entry: Received) -> Form:
    if entry.prompt_logprobs is None and entry.most_tokens is None:
        return form_of(entry.api, entry.stream)
    likeliest = entry.prompt_logprobs
    about = None if likeliest is None else AboutPrompt(likeliest=likeliest, tokens=entry.prompt)
    return Form(api=Api(entry.api), stream=entry.stream, about_prompt=about, most_tokens=entry.most_tokens)
