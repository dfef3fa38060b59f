"""Rates of servers that were measured in turns: each run, and the fake router beside the others."""

import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from benchmarks.ratio import Ratio, ratio_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What wrk says of one run, and the CPU that the server used meanwhile."""

    answered: int
    sent: int
    us: int
    errors: int
    cpu_s: float

    @property
    def rate(self) -> float:
        """Answers per second."""
        return self.answered / (self.us / 1e6)

    @property
    def cpu_us(self) -> float:
        """Microseconds of CPU for each answer."""
        return self.cpu_s * 1e6 / self.answered


@dataclass(slots=True, kw_only=True)
class Rates:
    """The runs of each server; each round has one of every server. missing: how to install what is not there. cold:
    what was not warm.
    """

    routers: list[Load] = field(default_factory=list)
    nginxes: list[Load] = field(default_factory=list)
    mocks: dict[str, list[Load]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    cold: list[str] = field(default_factory=list)
    exact: bool = True

    def ratios(self, of_nginx: float, times: Mapping[str, float]) -> list[Ratio]:
        """Of rates, to nginx and to each mock, with what is expected at least; and of CPU a request, which a busy
        machine changes less.
        """
        says = "requests a second of the fake router, to {}"
        ratios = [ratio_of(says.format("nginx"), _rates(self.routers, self.nginxes), least=of_nginx)]
        for name, runs in self.mocks.items():
            ratios.append(ratio_of(says.format(name), _rates(self.routers, runs), least=times[name]))
        for name, runs in {"nginx": self.nginxes, **self.mocks}.items():
            cpu = [run.cpu_us / router.cpu_us for router, run in zip(self.routers, runs, strict=False)]
            ratios.append(ratio_of(f"CPU a request of {name}, to the fake router", cpu))
        return ratios

    def table(self) -> Iterator[str]:
        """Each server on a line, below a line of heads."""
        yield f"{'server':20}{'requests/s':>12}{'lowest':>10}{'highest':>10}{'CPU us/request':>16}{'runs':>6}"
        for name, runs in {"fake router": self.routers, "nginx": self.nginxes, **self.mocks}.items():
            rates = [run.rate for run in runs]
            cpu_us = statistics.median(run.cpu_us for run in runs)
            numbers = f"{statistics.median(rates):12.0f}{min(rates):10.0f}{max(rates):10.0f}{cpu_us:16.1f}"
            yield f"{name:20}{numbers}{len(runs):6}"


def _rates(routers: list[Load], others: list[Load]) -> list[float]:
    return [router.rate / other.rate for router, other in zip(routers, others, strict=False)]
