"""The reference forwarder as a subject: a library client on a thread of its own in this process."""

import asyncio
import ssl
import time
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import cache, partial

from fake_router.identity import IDENTITY
from faults.evidence import REFERENCE_CONTRACT
from faults.plan import PlannedOperation
from forwarder.carrier import MissingCarrierError, carrier_named
from forwarder.client import Forwarder
from forwarder.errors import ForwardError, NotExecutedError
from forwarder.policy import BLANKET_5XX, POLICIES, Policy, policy_named
from forwarder.request import Api
from forwarder.settings import Settings
from suites.history import Arrival, Kind, Outcome
from suites.in_process import SubjectThread
from suites.leaving import Leave
from suites.pulse import Pulse
from suites.run import Promise, SubjectFacts
from suites.sent import sent_content
from suites.subject import SubjectError, SubjectSpec
from suites.way import Address, Upstreams
from suites.workload import completion_request

TIMEOUT_MS = 300  # both time-outs of the reference while it is examined
PATIENT_MS = 1_200  # a thousand at once, their router in this process: a loop of ours came late by 130 to 340
BACKOFF_MS = 1  # and its pause before it sends again: thousands of plans wait for it
UPSTREAMS = 2
HTTPX = "httpx"  # the variant that measurements are held against: over httpx, and with the retries of a first version
REFERENCE_VARIANTS = (*POLICIES, HTTPX)

FORWARDERS = SubjectThread("forwarders")


@dataclass(slots=True)
class _Held:
    """What has come of the only choice that is asked for. `begun` is called when something has."""

    begun: Callable[[], object]
    tokens: list[int] | None = None
    texts: list[str] = field(default_factory=list)

    def take(self, tokens: Sequence[int] | None, text: str) -> None:
        """Its next part, or all of it."""
        self.tokens = [] if self.tokens is None else self.tokens
        self.tokens += tokens or ()
        self.texts.append(text)
        self.begun()

    @property
    def result(self) -> tuple[tuple[int, ...], str] | tuple[None, None]:
        """Tokens and text; None for both where nothing has come."""
        return (None, None) if self.tokens is None else (tuple(self.tokens), "".join(self.texts))


def _begun(leave: Leave | None) -> Callable[[], object]:
    """Tells the caller, whose loop is another, that its answer has begun to come."""
    if leave is None:
        return lambda: None
    return partial(asyncio.get_running_loop().call_soon_threadsafe, leave.begun.set)


@dataclass(slots=True, kw_only=True)
class ReferenceInstance:
    """One forwarder, with a session and a pool of its own."""

    forwarder: Forwarder

    async def call(
        self, planned: PlannedOperation, number: int, ceiling_ms: int, leave: Leave | None = None
    ) -> Outcome:
        """One operation, by a plain function call; what it returns or raises is the outcome. Its caller leaves by
        cancelling it. (Segmentation is the caller's wire's, and there is none.)
        """
        asked = self._asked(planned, number, ceiling_ms / 1000, _Held(_begun(leave)))
        outcome = await FORWARDERS.outcome(asked, number, planned.form, ceiling_ms, leave)
        return replace(outcome, sent=sent_content(completion_request(number, planned.form, planned.body_bytes)))

    async def _asked(self, planned: PlannedOperation, number: int, ceiling_s: float, held: "_Held") -> Outcome:
        started = time.monotonic_ns()
        form = planned.form
        kind, arrival, says = Kind.OK, Arrival.RETURNED, ""
        try:
            async with asyncio.timeout(ceiling_s):
                await (self._stream(planned, number, held) if form.stream else self._complete(planned, number, held))
        except ForwardError as error:
            kind = Kind.FAILED if isinstance(error, NotExecutedError) else Kind.UNKNOWN
            says = f"{type(error).__name__}: {error}"
        except TimeoutError:
            kind, arrival, says = Kind.UNKNOWN, Arrival.HUNG, f"no answer within {ceiling_s:g} s"
        tokens, text = held.result
        return Outcome(
            operation=number,
            kind=kind,
            arrival=arrival,
            form=form,
            tokens=tokens,
            text=text,
            says=says,
            invoked_at_ns=started,
            ended_at_ns=time.monotonic_ns(),
        )

    async def _complete(self, planned: PlannedOperation, number: int, held: "_Held") -> None:
        request, api = completion_request(number, planned.form, planned.body_bytes), Api(planned.form.api.value)
        completion = await self.forwarder.complete(request, api=api, expect=planned.expect)
        (choice,) = completion.choices
        held.take(choice.token_ids, choice.text)

    async def _stream(self, planned: PlannedOperation, number: int, held: "_Held") -> None:
        """It returns only when the last event has come; what came before a failure was used as it came."""
        request, api = completion_request(number, planned.form, planned.body_bytes), Api(planned.form.api.value)
        async with aclosing(self.forwarder.stream(request, api=api)) as events:
            async for event in events:
                for delta in event.deltas:
                    held.take(delta.token_ids, delta.text)

    async def idle(self) -> bool | None:
        """Exact: it counts what it has in flight."""
        return self.forwarder.in_flight == 0

    def died(self) -> str | None:
        """It lives as long as this process."""
        return None

    async def stop(self) -> None:
        """Close the session and its pool."""
        await FORWARDERS.run(self.forwarder.close())


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceSubject:
    """`reference`, `reference:POLICY` and `reference:httpx`."""

    policy: Policy
    spec: SubjectSpec
    http_client: str = "aiohttp"

    def missing(self) -> str | None:
        """Why it cannot run on this machine, and what to install; None when it can."""
        try:
            carrier_named(self.http_client)
        except MissingCarrierError as error:
            return f"{self.spec.facts.name}: {error}"
        return None

    def patient(self) -> "ReferenceSubject":
        """The same, with longer time-outs."""
        longer = replace(self.spec, connect_timeout_ms=PATIENT_MS, read_timeout_ms=PATIENT_MS)
        return replace(self, spec=longer)

    async def start(self, upstreams: Sequence[Address]) -> ReferenceInstance:
        """A forwarder in front of these addresses; it opens nothing before its first operation. Raises SubjectError."""
        if missing := self.missing():
            raise SubjectError(missing)
        to = Upstreams.of(upstreams)
        tls = to.way.tls
        settings = Settings(
            connect_timeout_ms=self.spec.connect_timeout_ms,
            read_timeout_ms=self.spec.read_timeout_ms,
            tls=_trusting(IDENTITY.ca_pem) if tls else None,
            max_connections=to.way.max_connections,
            nameservers=() if to.name_server is None else (f"{to.name_server[0]}:{to.name_server[1]}",),
        )
        urls = [f"{'https' if tls else 'http'}://{host}:{port}" for host, port in upstreams]
        policy = replace(self.policy, backoff_ms=BACKOFF_MS)
        forwarder = Forwarder(urls, policy=policy, settings=settings, http_client=self.http_client)
        instance = ReferenceInstance(forwarder=forwarder)
        try:
            await FORWARDERS.run(forwarder.start())
        except BaseException:
            await instance.stop()
            raise
        return instance

    async def pulse(self) -> Pulse:
        """On the loop of all forwarders of this process."""
        return await FORWARDERS.pulse()


@cache
def _trusting(ca_pem: bytes) -> ssl.SSLContext:
    """It verifies chain and name, as the default context does; reading the system's CAs would take its time."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=ca_pem.decode())
    return context


def reference_subject(variant: str | None, version: str) -> ReferenceSubject:
    """The subject for that policy (None: `safe`), or over httpx. Raises ValueError for another variant."""
    over_httpx = variant == HTTPX
    facts = SubjectFacts(
        name="reference" if variant is None else f"reference:{variant}",
        promises=Promise.ANSWERING,
        contract=REFERENCE_CONTRACT,
        attempts=2,
        called=True,
    )
    spec = SubjectSpec(
        facts=facts,
        version=version,
        upstreams=UPSTREAMS,
        connect_timeout_ms=TIMEOUT_MS,
        read_timeout_ms=TIMEOUT_MS,
        tls=True,
        names=not over_httpx,
        pool=True,
        passes_expect=not over_httpx,
    )
    if over_httpx:
        return ReferenceSubject(policy=BLANKET_5XX, spec=spec, http_client=HTTPX)
    return ReferenceSubject(policy=policy_named(variant or "safe"), spec=spec)
