"""How many property examples a second the in-process reference allows: `python -m benchmarks.property_rate`.

Each example is a whole run: a fresh router with two upstreams, a fresh forwarder, an operation that is refused once
and sent again (two attempts), settling, healing, a fresh operation, and every check. One at a time, as under pytest.
"""

import statistics
import sys
import time

from benchmarks.ratio import ratio_of
from faults.plan import Plan, PlannedOperation
from suites.bench import Bench
from suites.findings import Verdict

TARGET = 150.0  # examples per second
ROUNDS, EXAMPLES = 7, 100
PLAN = Plan(operations=(PlannedOperation(faults=("503-no-workers",)),))


def main() -> int:
    """Measure, print the median of the rounds with their spread; 1 when it is below the target."""
    with Bench.open("reference", EXAMPLES) as bench:
        began_s = time.process_time()
        rates = [_rate(bench) for _ in range(ROUNDS)]
        cpu_ms = (time.process_time() - began_s) * 1000 / (ROUNDS * EXAMPLES)
    median = statistics.median(rates)
    print(
        f"property examples (two attempts each) on the in-process reference: {median:.0f}/s, median of {ROUNDS} rounds "
        f"of {EXAMPLES} ({min(rates):.0f} to {max(rates):.0f}); at least {TARGET:.0f} expected; {cpu_ms:.1f} ms of "
        "CPU each"
    )
    print(ratio_of("property examples a second, to those expected", [rate / TARGET for rate in rates], least=1.0).line)
    return 0 if median >= TARGET else 1


def _rate(bench: Bench) -> float:
    began = time.perf_counter()
    for _ in range(EXAMPLES):
        _, judgement = bench.live(PLAN, "rate")
        if judgement.verdict is not Verdict.PASS:
            raise SystemExit(f"a run that is measured was {judgement.word}; expected PASS: run it on a quieter machine")
    return EXAMPLES / (time.perf_counter() - began)


if __name__ == "__main__":
    sys.exit(main())
