"""What does a request cost the forwarder, the more of them are in flight? `python -m benchmarks.forwarder_load`
measures the CPU of its process with every reply held until all are in flight, at 512 and at 4,096, and how fast 2,048
small results come at once; beside the same forwarder over httpx, held with a connection for each, at once with httpx's
own limits.

Exit codes: 0 as expected, 1 not, or an operation failed; 4 a component is missing.

CPU is what the forwarder's process used, user and kernel, from the first request to the last result: it says the same
on a machine that others use meanwhile. Rounds with few and with many in flight take turns; the first of each is not
counted, since it makes the connections. A round over httpx that has taken so much CPU (20 s of those at once, 40 s of
those held) is ended: what it has taken until then is less than it takes, and so is what a ratio to it says.
"""

import json
import statistics
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from benchmarks.forwarder_worker import Round, Task
from benchmarks.peers import ROOT, MissingError, started
from benchmarks.ratio import Ratio, ratio_of
from benchmarks.router_rate import Cores
from forwarder.carrier import MissingCarrierError, carrier_named

FEW, MANY, SMALL = 512, 4096, 2048
BETWEEN = (1024, 2048)  # measured once, for the plot
PAIRS = 5
EACH, OWN = "a connection for each", "its own limits"
GROWTH, OF_HTTPX, TIMES_HTTPX = 1.15, 1 / 20, 20.0
LONGEST_CPU_S = 40.0
SMALL_CPU_S = 20.0  # it takes more than 80


def main() -> int:
    """Measure, print, and say in the exit code whether it is as expected."""
    try:
        carrier_named("httpx")
        held, failed = _held()
        small, failed_too = _small()
    except (MissingError, MissingCarrierError) as error:
        print(f"forwarder_load: {error}", file=sys.stderr)
        return 4
    ratios = [*held, *small]
    for ratio in ratios:
        print(ratio.line)
    failures = failed + failed_too
    print(f"{failures} of the reference's operations failed")
    return 0 if all(ratio.met for ratio in ratios) and not failures else 1


def _held() -> tuple[list[Ratio], int]:
    few, many = Side("aiohttp", FEW), Side("aiohttp", MANY)
    theirs = [Side("httpx", each, connections=each) for each in (FEW, *BETWEEN, MANY)]
    between = [Side("aiohttp", each) for each in BETWEEN]
    with _router("held") as router:
        for pair in range(PAIRS):
            few.live(router, held=FEW, rounds=MANY // FEW, warm=True)  # as many requests of either
            many.live(router, held=MANY, warm=True)
            if pair == PAIRS // 2:
                for side in theirs:
                    side.live(router, held=side.in_flight)
                for side in between:
                    side.live(router, held=side.in_flight, warm=True)
    for side in (few, *between, many):
        side.print_cpu()
    for side in theirs:
        side.print_cpu(EACH)
    growth = [more / less for more, less in zip(many.cpu_us, few.cpu_us, strict=True)]
    return [
        ratio_of(f"CPU a request with {MANY} held in flight, to {FEW}", growth, most=GROWTH),
        ratio_of(f"the same over httpx, {EACH}: {MANY} to {FEW}", [theirs[-1].cpu_us[0] / theirs[0].cpu_us[0]]),
        ratio_of(
            f"CPU a request with {MANY} held in flight, to that over httpx, {EACH}",
            many.to(theirs[-1]),
            most=OF_HTTPX,
        ),
    ], few.failures + many.failures


def _small() -> tuple[list[Ratio], int]:
    ours, theirs = Side("aiohttp", SMALL), Side("httpx", SMALL)
    with _router("instant") as router:
        for pair in range(PAIRS):
            ours.live(router, warm=True)
            if pair == PAIRS // 2:
                theirs.live(router, longest_cpu_s=SMALL_CPU_S)
    ours.print_rate()
    theirs.print_rate(OWN)
    rates = [theirs.rounds[0].seconds / each.seconds for each in ours.rounds]
    says = f"rate of {SMALL} small results, to that over httpx, {OWN}"
    return [ratio_of(says, rates, least=TIMES_HTTPX)], ours.failures


class Side:
    """One kind of forwarder at one number in flight: what its rounds have taken."""

    def __init__(self, http_client: str, in_flight: int, *, connections: int = 0) -> None:
        self.http_client = http_client
        self.in_flight = in_flight
        self._connections = connections
        self.rounds: list[Round] = []
        self.cpu_us: list[float] = []  # a request, of each process that lived them

    def live(
        self,
        router: tuple[str, str],
        *,
        held: int = 0,
        rounds: int = 1,
        warm: bool = False,
        longest_cpu_s: float = LONGEST_CPU_S,
    ) -> None:
        """So many rounds on a forwarder in a process of its own; after one that is not counted, if it is to be warm."""
        task = Task(
            http_client=self.http_client,
            router=router[0],
            control=router[1],
            in_flight=self.in_flight,
            rounds=rounds + warm,
            connections=self._connections,
            held=held,
            longest_cpu_s=longest_cpu_s,
        )
        found = _rounds(task)[warm:]
        self.rounds += found
        self.cpu_us.append(statistics.mean(each.cpu_s for each in found) * 1e6 / self.in_flight)

    @property
    def failures(self) -> int:
        """In all rounds; one that was not over in time is one."""
        return sum(each.failures + (not each.whole) for each in self.rounds)

    def to(self, other: "Side") -> list[float]:
        """CPU a request, to that of the only round of the other."""
        return [own / other.cpu_us[0] for own in self.cpu_us]

    def print_cpu(self, how: str = "") -> None:
        """One line."""
        print(f"{self._name(how)} held: {self._least}{self._spread(self.cpu_us)} us of CPU a request", flush=True)

    def print_rate(self, how: str = "") -> None:
        """One line."""
        most = "at most " if not all(each.whole for each in self.rounds) else ""
        rates = [self.in_flight / each.seconds for each in self.rounds]
        cpu = f"{self._least}{self._spread(self.cpu_us)} us of CPU each"
        print(f"{self._name(how)} small results: {most}{self._spread(rates)} a second; {cpu}", flush=True)

    @property
    def _least(self) -> str:
        return "" if all(each.whole for each in self.rounds) else "more than "

    def _name(self, how: str) -> str:
        return f"{self.http_client}{', ' * bool(how)}{how}: {self.in_flight}"

    def _spread(self, values: list[float]) -> str:
        return f"{statistics.median(values):.0f} ({min(values):.0f} to {max(values):.0f})"


def _rounds(task: Task) -> list[Round]:
    command = [sys.executable, "-m", "benchmarks.forwarder_worker", msgspec.json.encode(task).decode()]
    with started(command, core=Cores.chosen().load) as process:  # the router has the other one
        assert process.stdout is not None
        lines = process.stdout.read().splitlines()
        code = process.wait()
    found = [msgspec.json.decode(line, type=Round) for line in lines]
    if code or not found or (found[-1].whole and len(found) < task.rounds):
        raise SystemExit(f"{task.http_client}: {len(found)} rounds of {task.rounds} (exit code {code})")
    return found


@contextmanager
def _router(service: str) -> Iterator[tuple[str, str]]:
    """A fake router's URL, and that of its control port."""
    command = [sys.executable, "-m", "fake_router", "--service", service]
    with started(command, core=Cores.chosen().server) as process:
        assert process.stdout is not None
        addresses = json.loads(process.stdout.readline() or b"{}")
        if not addresses:
            raise MissingError(f"the fake router did not start; run `python -m fake_router` in {ROOT} to see why")
        yield f"http://{addresses['upstreams'][0]}", f"http://{addresses['control']}"


if __name__ == "__main__":
    sys.exit(main())
