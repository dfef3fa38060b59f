"""What a Prometheus server scrapes at /metrics, in a registry of its own."""

from collections.abc import Callable, Mapping

from prometheus_client import CollectorRegistry, Counter, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response

from forwarder.evidence import Evidence

_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """Counters that grow as things happen, and gauges that are read when somebody asks.

    gauges: name -> (what it is, how it is read); a name that ends in `_total` is that of a counter read so.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._operations = Counter(
            "forwarder_operations", "Operations that have ended.", ("api", "outcome"), registry=self.registry
        )
        self._retries = Counter(
            "forwarder_retries", "Requests that were sent again.", ("reason",), registry=self.registry
        )
        self._polls = Counter("forwarder_polls", "Polls that have ended.", ("ending",), registry=self.registry)

    def operation(self, api: str, outcome: str) -> None:
        """One has ended."""
        self._operations.labels(api, outcome).inc()

    def retry(self, evidence: Evidence) -> None:
        """A request is sent again on this evidence."""
        self._retries.labels(evidence.kind.name.lower()).inc()

    def poll(self, ending: str) -> None:
        """One has ended: delivered, failed, gone, try_again or left."""
        self._polls.labels(ending).inc()

    def read(self, gauges: Mapping[str, tuple[str, Callable[[], float]]]) -> None:
        """Show these too."""
        self.registry.register(_Gauges(gauges))

    async def answer(self, _: Request) -> Response:
        """GET /metrics."""
        return Response(generate_latest(self.registry), headers={"content-type": _TYPE})


class _Gauges(Collector):
    def __init__(self, gauges: Mapping[str, tuple[str, Callable[[], float]]]) -> None:
        self._gauges = gauges

    def collect(self) -> list[GaugeMetricFamily]:
        return [GaugeMetricFamily(name, says, value=read()) for name, (says, read) in self._gauges.items()]
