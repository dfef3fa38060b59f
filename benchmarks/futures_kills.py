"""kill -9 of the server of futures at drawn points, with the SQLite store: nothing executed twice, nothing that was
accepted forgotten, no result changed.

`python -m benchmarks.futures_kills [--points 100] [--seed 0]`. Exit code 1: one of these did not hold.
"""

import argparse
import random
import sys
from collections import Counter

import uvloop

from fake_router.entries import Executed
from fake_router.thread import RouterThread
from suites.findings import Verdict
from suites.futures.kills import OPERATIONS, By, Killing, Point, judge_killing
from suites.futures.offer import Storage, Store
from suites.futures.process_host import ProcessHost
from suites.futures.record import Answered, Began, Kind, Record
from suites.ground import HOST
from suites.numbers import Numbers
from suites.processes import Supervisor
from suites.subject_file import built_in_file
from suites.way import Upstreams

ENTRIES = 6 * OPERATIONS  # of the router's ledger, about, where nothing is killed
ANSWERS = 2 * OPERATIONS


def drawn_points(count: int, seed: int) -> list[Point]:
    """Half of them by the router's events, half by the callers'."""
    chance = random.Random(seed)
    points = []
    for number in range(count):
        by = By.CALLERS if number % 2 else By.ROUTER
        points.append(Point(by=by, event=chance.randint(1, ANSWERS if by is By.CALLERS else ENTRIES)))
    return points


async def killed_at(point: Point, supervisor: Supervisor, routers: RouterThread, numbers: Numbers) -> Record:
    """One server from its beginning to its end, in a folder of its own."""
    router = await routers.start_router(upstreams=2)
    upstreams = Upstreams([(HOST, port) for port in router.ports])
    host = ProcessHost(built_in_file("reference-server"), supervisor, upstreams, Storage(store=Store.SQLITE))
    try:
        return await Killing(host, router, routers, numbers, point).live()
    finally:
        await host.close()
        await routers.close_router(router)


def after(record: Record) -> Counter[str]:
    """What callers got after the restart."""
    began = next(place for place, fact in enumerate(record.facts) if isinstance(fact, Began))
    kinds = (fact.answer.kind for fact in record.facts[began:] if isinstance(fact, Answered))
    return Counter(str(kind) for kind in kinds)


async def work(options: argparse.Namespace) -> bool:
    """All points, one after the other."""
    total: Counter[str] = Counter()
    judged: Counter[str] = Counter()
    failed = 0
    numbers = Numbers()
    with RouterThread() as routers:
        async with Supervisor() as supervisor:
            for point in drawn_points(options.points, options.seed):
                record = await killed_at(point, supervisor, routers, numbers)
                found = judge_killing(record)
                judged.update(finding.check for finding in found)
                broken = [finding for finding in found if finding.verdict is not Verdict.PASS]
                total.update(after(record))
                total["executed"] += sum(isinstance(entry, Executed) for entry in record.ledger)
                total["points with results kept"] += after(record)[Kind.RESULT] > 0
                total["points with operations interrupted"] += after(record)[Kind.FAILED] > 0
                failed += bool(broken)
                for finding in broken:
                    print(f"{point}: {finding.check}: {finding.says}", flush=True)
    print(f"{options.points} points of {OPERATIONS} operations, {failed} failed")
    print("  " + ", ".join(f"{word} {count}" for word, count in total.items()))
    print("  judged: " + ", ".join(f"{check} {count}" for check, count in judged.items()))
    return failed == 0


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    return 0 if uvloop.run(work(parser.parse_args())) else 1


if __name__ == "__main__":
    sys.exit(main())
