"""A fake router for somebody's own tests: armed with a few words, asked what it saw, and held to what was planned."""

from dataclasses import dataclass, field
from typing import Any

from fake_router.content import prompt_tokens
from fake_router.entries import AnyEntry, Executed, Received, Unserved
from fake_router.identity import IDENTITY
from fake_router.server import Router
from fake_router.thread import RouterThread
from faults.acts import is_listener_act, needs_tls
from faults.catalogue import fault_named
from faults.driven import refuse_undriven
from faults.plan import Plan, PlanError, PlannedListener, PlannedOperation
from suites.accounts import accounts_of
from suites.checks.vacuity import missed_strikes
from suites.marked import A_PLAN, Marked
from suites.run import Promise, Run, SubjectFacts
from suites.workload import completion_request

NOBODY = SubjectFacts(name="the client of a test", promises=Promise.ANSWERING)


@dataclass(slots=True, kw_only=True, repr=False)
class OwnRouter:
    """A router that runs, on a thread of its own. Every method may be called from any other thread."""

    marked: Marked
    threads: RouterThread
    router: Router
    _armed: list[tuple[Plan, int, int]] = field(default_factory=list)  # plan, first operation, place in the ledger
    _next: int = 1

    @staticmethod
    def start(marked: Marked, threads: RouterThread) -> "OwnRouter":
        """One that listens, armed with what is marked. Raises PlanError and UnknownFaultError, both ValueErrors."""
        identity = IDENTITY if marked.tls else None
        router = threads.run(threads.start_router, upstreams=marked.upstreams, identity=identity)
        own = OwnRouter(marked=marked, threads=threads, router=router)
        try:
            if marked.faults:
                own.arm(*marked.faults)
            elif marked.plan is not None:
                own.arm(marked.plan)
        except BaseException:
            own.close()
            raise
        return own

    def close(self) -> None:
        """It listens no more."""
        self.threads.run(self.threads.close_router, self.router)

    def __repr__(self) -> str:
        return f"fake_router at {', '.join(self.urls)}"

    @property
    def urls(self) -> list[str]:
        """The base URL of each upstream."""
        scheme = "https" if self.router.tls else "http"
        return [f"{scheme}://{self.router.host}:{port}" for port in self.router.ports]

    @property
    def url(self) -> str:
        """The base URL of the first upstream."""
        return self.urls[0]

    @property
    def ca_pem(self) -> str:
        """The certificate of the CA that a client has to trust, in PEM. Raises ValueError where there is no TLS."""
        if not self.router.tls:
            raise ValueError("ca_pem of a router without TLS; expected a test that is marked fake_router(tls=True)")
        return IDENTITY.ca_pem.decode()

    def arm(self, *what: str | Plan) -> range:
        """Let faults strike: ids, for one operation and for every upstream, or one whole plan. Returns the numbers of
        the operations that it is about.

        Raises PlanError or UnknownFaultError for what is no plan, or does not fit to what is armed.
        """
        plan = what[0] if len(what) == 1 and isinstance(what[0], Plan) else _plan_of(what, self.marked)
        if plan.tls is not self.marked.tls:
            raise PlanError(
                f"tls is {plan.tls!r}, of a plan or its faults; expected {self.marked.tls!r}, or a test that is marked "
                f"fake_router(tls={plan.tls!r})"
            )
        refuse_undriven(plan)
        first, since = self._next, len(self.router.ledger)
        timeout_ms = self.marked.read_timeout_ms
        self.threads.run(lambda: self.router.arm(plan, first_operation=first, read_timeout_ms=timeout_ms))
        self._next += len(plan.operations)
        self._armed.append((plan, first, since))
        return range(first, self._next)

    def heal(self) -> None:
        """Nothing strikes any more; what is silent ends."""
        self.threads.run(self._drain_and_heal)

    def open_gate(self, name: str) -> None:
        """What plans hold at that gate goes on."""
        if not isinstance(name, str):
            raise ValueError(f"open_gate({name!r}); expected the name of a gate")
        self.threads.run(self.router.open_gate, name)

    def prompt_for(self, operation: int) -> list[int]:
        """A prompt, as token ids, that carries that operation."""
        return prompt_tokens(operation)

    def request_for(self, operation: int) -> dict[str, Any]:
        """A whole request for `POST /v1/completions` that carries that operation."""
        return completion_request(operation)

    @property
    def ledger(self) -> tuple[AnyEntry, ...]:
        """All that has happened so far."""
        return self.router.ledger.since()

    @property
    def attempts(self) -> int:
        """How often any operation was sent, as far as the router has seen it: not where nobody listened."""
        return sum(isinstance(entry, Received | Unserved) for entry in self.ledger)

    def executions(self, operation: int) -> int:
        """How often the work of that operation was done."""
        prompt_tokens(operation)  # it is the number of one
        exchanges = {e.exchange for e in self.ledger if isinstance(e, Received) and e.operation == operation}
        return sum(isinstance(entry, Executed) and entry.exchange in exchanges for entry in self.ledger)

    def missing_strikes(self) -> str:
        """What was planned and not met, in words, once all is healed; empty when nothing is missing."""
        self.heal()
        missing = [] if self.marked.may_not_strike else [says for armed in self._armed for says in self._gaps(*armed)]
        if not missing:
            return ""
        return "\n  ".join(
            (
                "fake_router: what was planned was not met, so this test has shown nothing:",
                *missing,
                "send what `fake_router.request_for(number)` gives, or a prompt of `prompt_for(number)`; mark the test "
                "with `may_not_strike=True` where a fault may well not be met",
            )
        )

    def _gaps(self, plan: Plan, first: int, since: int) -> list[str]:
        run = Run(
            plan=plan,
            subject=NOBODY,
            operations=tuple(range(first, first + len(plan.operations))),
            ledger=self.router.ledger.since(since),
            history=(),
        )
        return [says for says, _, _ in missed_strikes(run, accounts_of(run))]

    def _drain_and_heal(self) -> None:
        self.router.drain()
        self.router.heal()


def _plan_of(ids: tuple[str | Plan, ...], marked: Marked) -> Plan:
    if not ids or not all(isinstance(id_, str) for id_ in ids):
        raise ValueError(f"arm{ids!r}; expected ids of faults, or one Plan ({A_PLAN})")
    named = [fault_named(id_) for id_ in ids if isinstance(id_, str)]
    return Plan(
        operations=(PlannedOperation(faults=tuple(f.id for f in named if not is_listener_act(f.act))),),
        listeners=tuple(PlannedListener(fault=f.id) for f in named if is_listener_act(f.act)),
        upstreams=marked.upstreams,
        tls=marked.tls or any(needs_tls(fault.act) for fault in named),
    )
