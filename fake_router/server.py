"""The router: listeners, connections, and the plans that strike them. It belongs to the loop it was started on."""

import asyncio
from collections.abc import Collection, Sequence
from functools import partial
from typing import Self

from fake_router.between import Between
from fake_router.entries import Marked
from fake_router.identity import Identity
from fake_router.ledger import Ledger
from fake_router.listener import Listener
from fake_router.listener_faults import ListenerFaults
from fake_router.mixing import ArmedMix
from fake_router.name_server import NameServer
from fake_router.pooling import POOL_GATE
from fake_router.reception import Reception
from fake_router.routes import probes_with
from fake_router.service import INSTANT, Service
from fake_router.switchboard import Switchboard
from fake_router.waiting import until
from faults.mix import Mix
from faults.plan import MAX_UPSTREAMS, Plan, PlanError


class Router:
    """Plays one or more upstreams, breaks where its plans say, and records what really happened.

    All methods must be called on the loop that ran `start`; none but `start`, `close` and `wait_...` waits.
    """

    def __init__(
        self,
        *,
        upstreams: int = 1,
        host: str = "127.0.0.1",
        ports: Sequence[int] | None = None,
        identity: Identity | None = None,
        ledger: Ledger | None = None,
        probes: Collection[str] = (),
        names: bool = False,
        service: Service = INSTANT,
    ) -> None:
        """`ports`: one for each upstream, 0 for any. identity: who it is under TLS, which all of them speak then.
        names: it plays a name server for its upstreams as well. `probes`: paths that are answered as probes, beside the
        usual ones. service: how long work takes. Raises ValueError when numbers do not fit.
        """
        if not 1 <= upstreams <= MAX_UPSTREAMS:
            raise ValueError(f"upstreams is {upstreams!r}; expected 1 to {MAX_UPSTREAMS}")
        if ports is not None and len(ports) != upstreams:
            raise ValueError(f"{len(ports)} ports for {upstreams} upstreams; expected one for each")
        self.host = host
        self._identity = identity
        self.ledger = Ledger() if ledger is None else ledger
        self._wanted = tuple(ports) if ports is not None else (0,) * upstreams
        self._listeners: list[Listener] = []
        self._board = Switchboard(self.ledger, upstreams, probes_with(probes), service)
        self._board.injector.names = names
        self._reception = Reception(self._board, identity)
        self._faults = ListenerFaults(self._board, self._listeners, self._reception.adopt)
        # What others do between subject and router.
        self.between = Between(self._board, self._faults)
        self._with_names = names
        self._names: NameServer | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def start(self) -> None:
        """Listen on every port. Raises PortInUseError, or another OSError, with nothing left open."""
        self._loop = asyncio.get_running_loop()
        self._board.serving.begin(self._loop)
        self._reception.begin(self._loop)
        try:
            if self._with_names:
                self._names = NameServer(self._loop, self.host, len(self._wanted))
            for upstream, port in enumerate(self._wanted):
                accepted = partial(self._reception.accepted, upstream)
                self._listeners.append(Listener(self._loop, self.host, port, accepted))
        except OSError:
            await self.close()
            raise

    async def close(self) -> None:
        """Free every socket. Safe to call twice."""
        self._faults.close(self._loop)
        self._board.serving.close()
        if self._names is not None:
            self._names.close()
        for listener in self._listeners:
            listener.close()
        self._reception.close()
        await asyncio.sleep(0)  # the loop lets go of the sockets in its next turn

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def tls(self) -> bool:
        """Its upstreams speak TLS."""
        return self._identity is not None

    @property
    def ports(self) -> tuple[int, ...]:
        """The port of each upstream."""
        return tuple(listener.port for listener in self._listeners)

    @property
    def name_server(self) -> tuple[str, int] | None:
        """Where the name server answers; None where it plays none."""
        return None if self._names is None else (self.host, self._names.port)

    # Faults.

    def arm(self, plan: Plan, *, first_operation: int, read_timeout_ms: int) -> None:
        """Let the plan strike; its operation i has the number first_operation + i. Several may be armed at once.

        Raises PlanError, with nothing changed, when the plan does not fit to this router or to what is armed.
        """
        if plan.tls is not self.tls:
            raise PlanError(f"tls is {plan.tls!r}; expected {self.tls!r}: so do the upstreams of this router speak")
        steps = self._board.injector.arm(plan, first_operation=first_operation, read_timeout_ms=read_timeout_ms)
        self.ledger.record(Marked, mark="armed")
        self._faults.begin(steps, self._running, self._names)
        if any(step.reused for step in steps):
            self._reception.strike_idle()

    def arm_mix(self, mix: Mix, *, seed: int, read_timeout_ms: int) -> tuple[str, ...]:
        """Let faults strike at the rate of that mix, until healing: each operation's first exchange meets what the seed
        and its number decide, beside any plan that is armed. Returns the faults that cannot strike: who draws one of
        them meets none.

        Raises PlanError, with nothing changed, where none can, or another mix is armed.
        """
        if self._board.mix is not None:
            raise PlanError("a mix is armed already; expected one at a time: heal first")
        self._board.mix = ArmedMix.of(mix, seed=seed, read_timeout_ms=read_timeout_ms, tls=self.tls)
        self.ledger.record(Marked, mark="armed")
        return self._board.mix.left_out

    def open_gate(self, name: str) -> None:
        """What plans hold at the gate of that name goes on; it stays open until healing."""
        self._board.open_gate((0, name))

    def note(self, mark: str) -> None:
        """A point in the run's life, said by whoever runs it."""
        self.ledger.record(Marked, mark=mark)

    def release_pool(self) -> None:
        """Whoever holds the only connection of the subject's pool gets its answer, and lets go of it."""
        self._faults.release_pools()
        self.open_gate(POOL_GATE)

    def release(self) -> None:
        """What is held in service is answered, and what comes from now on takes no time, until `reset`.

        Raises NothingToReleaseError where the service is another.
        """
        self._board.serving.holding()
        self.ledger.record(Marked, mark="released")
        self._board.serving.release()

    def heal(self) -> None:
        """Nothing strikes any more: listeners are healthy, silences end with FIN, gates open.

        What was left unread stays so until it is drained; what is to be served late still will be.
        """
        self._faults.settle()
        self.ledger.record(Marked, mark="healed")
        self._faults.end(self._loop)
        self._board.injector.disarm()
        self._board.mix = None
        self._board.open_all_gates()
        self._reception.heal()

    def drain(self) -> None:
        """Read what lies unread and will never be served, record it, end those connections and all silences."""
        self._faults.drain()
        self._reception.drain()
        self.ledger.record(Marked, mark="settled")

    def drop_idle(self) -> None:
        """End idle connections with FIN."""
        self._reception.drop_idle()

    def reset(self) -> None:
        """As healing, and then an empty ledger, in which idle connections are opened first; others are aborted.

        Numbers of connections, exchanges and executions go on; those within an operation begin at 1 again.
        """
        self.heal()
        self._reception.abort_unless_idle()
        self._board.serving.hold_again()
        before, self.ledger = self.ledger, Ledger()
        self._board.ledger = self.ledger
        self._board.forget_operations()
        before.tell_followers()
        self._reception.record_opened()

    # What can be seen without reading the ledger.

    def connections(self, upstream: int | None = None) -> int:
        """Sockets that are open towards subjects, at one upstream or at all; those that wait for the peer's FIN
        included.
        """
        return self._reception.open(upstream)

    def ending(self) -> int:
        """Connections that the router has ended, and the subject has not: its end is still open."""
        return self._reception.ending()

    def busy(self) -> int:
        """Open exchanges that carry an operation, silences included, and unread connections yet to be served."""
        return self._board.busy

    def held(self) -> int:
        """Exchanges in service that wait to be released."""
        return self._board.serving.held

    def in_service(self) -> int:
        """Exchanges that an engine has taken on, and whose service time passes; their peers may have left."""
        return self._board.serving.in_service

    def queued(self) -> int:
        """Exchanges that wait until an engine takes them on."""
        return self._board.serving.queued

    async def wait_idle(self, timeout_s: float | None = None) -> bool:
        """Wait until busy() is 0; False when it was not within that time (None: no limit)."""
        return await until(self._board, lambda: self._board.busy == 0, timeout_s)

    async def wait_received(self, operation: int, timeout_s: float | None = None) -> bool:
        """Wait until a request that carries that operation has been read; False when none was within that time."""
        return await until(self._board, lambda: self._board.has_received(operation), timeout_s)

    async def wait_held(self, gate: str, timeout_s: float | None = None) -> bool:
        """Wait until something is held at the gate of that name; False when nothing was within that time."""
        return await until(self._board, lambda: self._board.holds_at((0, gate)), timeout_s)

    @property
    def _running(self) -> asyncio.AbstractEventLoop:
        assert self._loop is not None
        return self._loop
