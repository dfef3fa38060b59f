"""The forwards of accepted operations: each runs on its own, whoever waits for it, until its future has an outcome."""

import asyncio
import logging

from forwarder.api.activity import Activity
from forwarder.api.failures import failure_of, outcome_of
from forwarder.api.metrics import Metrics
from forwarder.client import Forwarder
from forwarder.errors import ForwardError, RequestError
from forwarder.futures.outcome import Executed, Failed, Outcome, Sampled
from forwarder.futures.store import Futures
from forwarder.reply import Reply
from forwarder.request import Asked
from forwarder.sampling.asample import SampleRequest
from forwarder.sampling.decode import sampled_of
from forwarder.sampling.encode import protobuf_of
from forwarder.sampling.result import SampledResult

_log = logging.getLogger("forwarder.background")


class Forwards:
    """Starts forwards and holds them: a loop alone keeps no task alive."""

    def __init__(self, forwarder: Forwarder, futures: Futures, activity: Activity, metrics: Metrics) -> None:
        self._forwarder = forwarder
        self._futures = futures
        self._activity = activity
        self._metrics = metrics
        self._tasks: set[asyncio.Task[None]] = set()
        self._forwarding = 0
        self._closed = False

    def __len__(self) -> int:
        return len(self._tasks)

    @property
    def forwarding(self) -> int:
        """Those that the forwarder counts among its own in flight."""
        return self._forwarding

    def start(self, request_id: str, request: SampleRequest) -> None:
        """Forward this accepted operation, once, and resolve its future."""
        task = asyncio.create_task(self._run(request_id, request))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def close(self) -> None:
        """What is started from now on is not sent."""
        self._closed = True

    async def end(self, grace_s: float) -> None:
        """Wait so long for those that run; then cancel them, and leave their futures without an outcome."""
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=grace_s)
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(set(self._tasks))

    async def _run(self, request_id: str, request: SampleRequest) -> None:
        with self._activity.working():
            outcome, word = await self._outcome(request)
            await self._futures.resolve(request_id, outcome)
            self._metrics.operation("asample", word)

    async def _outcome(self, request: SampleRequest) -> tuple[Outcome, str]:
        if self._closed:
            says = "not executed: the server is ending"
            return Failed(says=says, category="server", executed=Executed.NO, status=503), "not_executed"

        def read(reply: Reply, _: Asked) -> SampledResult:
            return sampled_of(reply, request.asked)

        self._forwarding += 1
        try:
            with self._activity.waiting():
                result = await self._forwarder.forward(request.request, read, headers=request.headers)
            return Sampled(protobuf_of(result)), "sampled"
        except (ForwardError, RequestError) as error:
            failure = failure_of(error)
            return outcome_of(failure), failure.kind
        except Exception:  # noqa: BLE001 - a defect of ours must not leave its pollers waiting for ever
            _log.exception("a forward broke")
            says = "may have run: the forwarder broke; its log says how"
            return Failed(says=says, category="server", executed=Executed.UNKNOWN, status=500), "broken"
        finally:
            self._forwarding -= 1
