"""One observation: a router, a fresh client, a fault; what the client saw, and what the ledger counted meanwhile."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Timer
from typing import TypeVar

import msgspec

from fake_router.entries import AnyEntry, Dialled, Executed, Opened, Received, Struck
from fake_router.identity import IDENTITY
from fake_router.name_server import name_of_upstream
from fake_router.pooling import POOL_GATE
from fake_router.server import Router
from fake_router.thread import RouterThread
from faults.form import COMPLETION
from faults.plan import Plan, PlannedOperation
from suites.evidence.cases import Case, How
from suites.evidence.client import Ask, Client, HangError, Need, OnHead, Session
from suites.evidence.got import HANGS, Got, Holds, error_chain, events_in, holds_of, holds_of_stream
from suites.evidence.names import names_of_routers
from suites.evidence.trust import Trust
from suites.reader import Reader
from suites.way import way_of
from suites.workload import completion_request

T = TypeVar("T")

READ_TIMEOUT_MS = 600  # of plans: three times the client's patience, so that "beyond" stays beyond on a busy machine
HEALTH = "/health"
WARM, OPERATION, NEXT = 101, 102, 103
_SETTLING_S = 30.0
_SLOW_S = 0.1  # a healthy exchange on loopback that takes so long has met a busy machine
_TRIES = 4
_HOLD_S = 2.0  # how long a client waits that has no time-out for its own pool; ten times that of the others


UNHARMED = Got(status=200, holds=Holds.RESULT)


class ProvesNothingError(Exception):
    """An observation that proves nothing, several times over; the message says why."""


class Seen(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One observation. sent: how often the client sent it, by the router's ledger (None: nobody could count).
    ran: how often it was executed. then: what the next, healthy operation got from the same client.
    """

    got: Got
    sent: int | None = 1
    ran: int = 0
    then: Got = UNHARMED

    @property
    def harmed(self) -> bool:
        """The next operation, which no fault struck, did not get its own result."""
        return self.then != UNHARMED


def observe(routers: RouterThread, trust: Trust, client: Client, case: Case) -> Seen:
    """Live through it, again where the machine was too busy for it. Raises ProvesNothingError."""
    for _ in range(_TRIES):
        seen = _Scene(routers, trust, client, case).play()
        if isinstance(seen, Seen):
            return seen
    raise ProvesNothingError(f"{case.fault.id} ({case.how}), {client.name}: {seen}, {_TRIES} times")


@dataclass(slots=True)
class _Scene:
    routers: RouterThread
    trust: Trust
    client: Client
    case: Case

    def play(self) -> Seen | str:
        """What was seen, or why it proves nothing."""
        way = way_of(self.case.plan)
        identity = IDENTITY if way.tls else None
        router: Router = self.routers.run(self.routers.start_router, identity=identity, names=way.names)
        host = "127.0.0.1" if router.name_server is None else name_of_upstream(0, router.name_server)
        url = f"{'https' if way.tls else 'http'}://{host}:{router.ports[0]}"
        try:
            with names_of_routers(), self.client.session(url, self.case.patience, self.trust) as session:
                return self._with(session, router)
        finally:
            self.routers.run(self.routers.close_router, router)

    def _with(self, session: Session, router: Router) -> Seen | str:
        held = self.case.need is Need.POOL
        if self.case.how is How.REUSED and not held and self._post(session, WARM, router) != UNHARMED:
            return "the exchange before it failed"
        let_go = self._occupied(session, router) if held else None
        since = len(router.ledger)
        self.routers.run(router.arm, self.case.plan, first_operation=OPERATION, read_timeout_ms=READ_TIMEOUT_MS)
        got = self._got(session, router)
        if let_go is not None and not let_go():
            return "the request that held the connection failed"
        if not self._settled(router):
            return f"its work was not over within {_SETTLING_S:g} s"
        entries = router.ledger.since(since)
        if not any(isinstance(entry, Struck) for entry in entries):
            return "it did not strike"
        began = time.monotonic()
        then = self._post(session, NEXT, router)
        if not then.succeeded and time.monotonic() - began > _SLOW_S:
            return f"the next operation failed and took long ({then})"
        sent = _connections(entries) if self.case.how is How.GET else _sendings(entries)
        return Seen(
            got=got, sent=sent, ran=_executions(entries), then=UNHARMED if then == UNHARMED else then
        )  # as it is, so that JSON leaves it out

    def _got(self, session: Session, router: Router) -> Got:
        if self.case.how is How.GET:
            return self._get(session)
        return self._stream(session, router) if self.case.form.stream else self._post(session, OPERATION, router)

    def _occupied(self, session: Session, router: Router) -> Callable[[], bool]:
        """The only connection of the session's pool is held; what is returned lets go of it, once it was asked or
        _HOLD_S are over, and says whether its holder got its answer.
        """
        plan = Plan(operations=(PlannedOperation(gate=POOL_GATE),))
        self.routers.run(router.arm, plan, first_operation=WARM, read_timeout_ms=READ_TIMEOUT_MS)
        ask = Ask(method="POST", target=COMPLETION.api.path, body=msgspec.json.encode(completion_request(WARM)))
        answered = session.hold(ask, lambda: self.routers.run(router.wait_received, WARM, _SETTLING_S))
        release = Timer(_HOLD_S, lambda: self.routers.run(router.release_pool))  # the fault is this wait
        release.start()

        def let_go() -> bool:
            release.cancel()
            release.join()
            self.routers.run(router.release_pool)
            try:
                answered()
            except Exception:  # noqa: BLE001  whatever a client raises
                return False
            return True

        return let_go

    def _settled(self, router: Router) -> bool:
        """Nothing of it is under way any more, and what lay unread is in the ledger."""
        self.routers.run(router.heal)
        over = self.routers.run(router.wait_idle, _SETTLING_S)
        self.routers.run(router.drain)
        return over

    def _post(self, session: Session, operation: int, router: Router) -> Got:
        since = len(router.ledger)
        ask = self._ask(operation)
        raw = self._told(lambda on_head: session.request(ask, on_head))
        if isinstance(raw, Got):
            return raw
        status, content = raw
        holds = holds_of(content, operation, _executed(router, since), self.case.fault.evidence.body)
        # Its length depends on the number of its execution; that it is whole says more.
        return Got(status=status, holds=holds, body_bytes=0 if holds is Holds.RESULT else len(content))

    def _stream(self, session: Session, router: Router) -> Got:
        since = len(router.ledger)
        form, ask, pieces = self.case.form, self._ask(OPERATION), list[bytes]()
        raw = self._told(lambda on_head: session.stream(ask, on_head, pieces.append))
        body = b"".join(pieces)
        events = events_in(body, form)
        if isinstance(raw, Got):
            return msgspec.structs.replace(raw, events=events)
        holds = holds_of_stream(body, form, OPERATION, _executed(router, since))
        return Got(status=raw[0], holds=holds, events=events)

    def _ask(self, operation: int) -> Ask:
        """The case's own operation as the case has it, all others plain."""
        case, own = self.case, operation == OPERATION
        form = case.form if own else COMPLETION
        body = completion_request(operation, form, case.content_bytes if own else 0)
        expect = own and case.need is Need.EXPECT
        return Ask(method="POST", target=form.api.path, body=msgspec.json.encode(body), expect=expect)

    def _get(self, session: Session) -> Got:
        raw = self._told(lambda on_head: session.request(Ask(method="GET", target=HEALTH), on_head))
        if isinstance(raw, Got):
            return raw
        status, content = raw
        return Got(status=status, holds=Holds.AS_SENT, body_bytes=len(content))

    def _told(self, send: Callable[[OnHead], T]) -> Got | tuple[int, T]:
        """Its status and what it returns, or the error that it raises."""
        head: list[int] = []
        try:
            content = send(head.append)
        except HangError:
            return Got(status=head[-1] if head else 0, error=(HANGS,))
        except Exception as error:  # noqa: BLE001  whatever a client raises is what is recorded
            reason = self.client.reason_of(error)
            return Got(status=head[-1] if head else 0, error=error_chain(error), reason=reason)
        return head[-1], content


def _executed(router: Router, since: int) -> list[int]:
    return [entry.execution for entry in router.ledger.since(since) if isinstance(entry, Executed)]


def _executions(entries: tuple[AnyEntry, ...]) -> int:
    """How often the work ran of what was received since: not of what had held the connection."""
    received = {entry.exchange for entry in entries if isinstance(entry, Received)}
    return sum(isinstance(entry, Executed) and entry.exchange in received for entry in entries)


def _sendings(entries: tuple[AnyEntry, ...]) -> int | None:
    """How often an operation was sent; None where a dial that nobody saw stands for any number of them."""
    attempts = Reader.of(entries).finished()
    return len(attempts) if all(attempt.exactly_one for attempt in attempts) else None


def _connections(entries: tuple[AnyEntry, ...]) -> int:
    """How often a request that carries no operation was sent: each time on a connection of its own."""
    return sum(isinstance(entry, Opened | Dialled) for entry in entries)
