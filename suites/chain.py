"""Chains: a forwarder in front of another one, with hops between them that count what passes."""

from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace

from faults.plan import PlannedOperation
from suites.client_process import ClientInstance, ClientSubject
from suites.foreign import ForeignInstance, ForeignSubject
from suites.history import Outcome
from suites.hop import Hop
from suites.leaving import Leave
from suites.run import Promise, SubjectFacts
from suites.subject import Isolation, SubjectSpec
from suites.subject_keys import DIMENSIONS
from suites.way import Address

JOINED = "+"  # between the names of those that stand one behind the other


class ChainSubject:
    """`outer` in front of `inner`, which stands in front of the routers: a Subject."""

    def __init__(self, outer: ForeignSubject | ClientSubject, inner: ForeignSubject) -> None:
        said = {**inner.file.headers, **outer.file.headers}  # what the second wants to hear is the callers' to say
        self.outer = type(outer)(replace(outer.file, headers=said), outer.supervisor)
        self.inner = inner

    @property
    def spec(self) -> SubjectSpec:
        """What is known of both together; versions once both have been asked."""
        return chained(self.outer.spec, self.inner.spec)

    def missing(self) -> str | None:
        """Why it cannot run on this machine, and what to install; None when it can."""
        return self.outer.missing() or self.inner.missing()

    async def read_version(self) -> None:
        """Ask both for their versions, once."""
        await self.outer.read_version()
        await self.inner.read_version()

    async def start(self, upstreams: Sequence[Address]) -> "ChainInstance":
        """Both, and as many hops between them as `outer` wants upstreams. Raises SubjectError."""
        async with AsyncExitStack() as stack:
            inner = await self.inner.start(upstreams)
            stack.push_async_callback(inner.stop)
            front = await self.front(inner.address)
            stack.push_async_callback(front.stop)
            return self.joined(front, inner, stack.pop_all())

    async def front(self, towards: Address) -> "Front":
        """The first of them, in front of one that is there. Raises SubjectError."""
        async with AsyncExitStack() as stack:
            hops = tuple(Hop(towards) for _ in range(self.outer.spec.upstreams))
            for hop in hops:
                await hop.open()
                stack.callback(hop.close)
            outer = await self.outer.start([("127.0.0.1", hop.port) for hop in hops])
            stack.push_async_callback(outer.stop)
            return Front(outer, hops, stack.pop_all())

    def joined(self, front: "Front", inner: ForeignInstance, stack: AsyncExitStack) -> "ChainInstance":
        """Both as one; the stack ends what is to be ended with it."""
        made = CalledChain if isinstance(front.outer, ForeignInstance) else ChainInstance
        names = (self.outer.spec.facts.name, self.inner.spec.facts.name)
        return made(front.outer, inner, names, front.hops, stack)


class Front:
    """The first of a chain that runs, and the hops behind it."""

    def __init__(self, outer: ForeignInstance | ClientInstance, hops: Sequence[Hop], stack: AsyncExitStack) -> None:
        self.outer = outer
        self.hops = hops
        self._stack = stack

    def lead_to(self, address: Address) -> None:
        """The second is there from now on."""
        for hop in self.hops:
            hop.towards = address

    async def let_go(self) -> None:
        """No connection to the second is left; of those that its end has not ended it sees a reset."""
        for hop in self.hops:
            hop.cut()
        for hop in self.hops:
            await hop.emptied()

    async def stop(self) -> None:
        """End it. Safe to call twice."""
        await self._stack.aclose()


class ChainInstance:
    """A chain that runs: an Instance."""

    def __init__(
        self,
        outer: ForeignInstance | ClientInstance,
        inner: ForeignInstance,
        names: tuple[str, str],
        hops: Sequence[Hop],
        stack: AsyncExitStack,
    ) -> None:
        self.outer = outer
        self.inner = inner
        self._names = names
        self._hops = hops
        self._stack = stack

    async def call(
        self, planned: PlannedOperation, number: int, ceiling_ms: int, leave: Leave | None = None
    ) -> Outcome:
        """Send one operation to the first of them."""
        return await self.outer.call(planned, number, ceiling_ms, leave)

    async def idle(self) -> bool | None:
        """Together they cannot say."""
        return None

    def died(self) -> str | None:
        """Which of them ended by itself, and how; None while both live."""
        how = zip(self._names, (self.outer.died(), self.inner.died()), strict=True)
        return " and ".join(f"{name} {each}" for name, each in how if each) or None

    def passed(self) -> Counter[int]:
        """How often each operation was sent from the first to the second."""
        return passed_over(self._hops)

    async def stop(self) -> None:
        """End both, the first of them first. Safe to call twice."""
        await self._stack.aclose()


class CalledChain(ChainInstance):
    """One whose first is called over HTTP."""

    @property
    def address(self) -> Address:
        """Where it is called."""
        assert isinstance(self.outer, ForeignInstance)
        return self.outer.address

    def call_through(self, way_in: Address) -> None:
        """Operations go there from now on, which leads to it."""
        assert isinstance(self.outer, ForeignInstance)
        self.outer.call_through(way_in)


def passed_over(hops: Sequence[Hop]) -> Counter[int]:
    """How often each operation was sent over one of them."""
    return sum((hop.sendings for hop in hops), Counter())


def chained(outer: SubjectSpec, inner: SubjectSpec) -> SubjectSpec:
    """What is known of one in front of the other: of the way to the routers what `inner` says, of what callers ask for
    and see what `outer` says, as far as `inner` can do it too. All hops lead to one that answers: which of them `outer`
    has last used makes no difference to the next operation, so that it is shared where `inner` is; where that may not
    be shared, `outer` alone is.
    """
    asked = {name: why for name, why in outer.reach.items() if name in DIMENSIONS}
    of_routers = {"tls", "names", "pool", "reused", "http10_upstream"}
    reach = {**{name: why for name, why in asked.items() if name not in of_routers}, **inner.reach}
    quiet_ms = _settling_ms(outer) + _settling_ms(inner)
    return replace(
        inner,
        facts=_facts(outer.facts, inner.facts),
        version=" + ".join(filter(None, (outer.version, inner.version))),
        quiet_ms=quiet_ms,
        call_ms=2 * (outer.ceiling_ms + inner.ceiling_ms),
        reach=reach,
        first_shared=outer.isolation is Isolation.SHARED and inner.isolation is Isolation.FRESH,
        start_ms=outer.start_ms + inner.start_ms,
        apis=tuple(api for api in outer.apis if api in inner.apis),
        passes_expect=outer.passes_expect and inner.passes_expect,
    )


def _settling_ms(spec: SubjectSpec) -> int:
    """Its quiet window; of one that says when it is idle, as long as it may wait for an answer."""
    return spec.read_timeout_ms if spec.quiet_ms is None else spec.quiet_ms


def _facts(outer: SubjectFacts, inner: SubjectFacts) -> SubjectFacts:
    """A transparent one promises what the one behind it does; any other answers for itself."""
    return SubjectFacts(
        name=f"{outer.name}{JOINED}{inner.name}",
        promises=inner.promises if outer.promises is Promise.TRANSPARENT else outer.promises,
        contract=inner.contract,
        attempts=outer.attempts * inner.attempts,
        called=outer.called,
        rewrites=outer.rewrites or inner.rewrites,
    )
