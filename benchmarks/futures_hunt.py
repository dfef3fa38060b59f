"""How long a wrong server of futures survives, and how long a right one does: drawn scripts until the first FAIL.

`python -m benchmarks.futures_hunt` hunts every mutant of tests/futures_mutants.py for at most 200 scripts, told ones
left out. `python -m benchmarks.futures_hunt healthy --steps 10000` leads the server itself through so many drawn steps.
Exit code 1: a mutant survived, or the server did not.
"""

import argparse
import asyncio
import sys
import time
from dataclasses import replace

import uvloop

from fake_router.thread import RouterThread
from suites.foreign import ForeignSubject
from suites.futures.drawn import play_drawn
from suites.futures.hosts import host_of, powers_over
from suites.futures.played import Played
from suites.futures.script import dump_script
from suites.futures.situations import SITUATIONS
from suites.futures.table import Table
from suites.futures.theatre import Theatre
from suites.processes import Supervisor
from suites.subject_file import built_in_file
from suites.subject_text import SubjectFile
from tests.futures_mutants import MUTANTS

HEALTHY = "healthy"
CHUNK = 100  # scripts between two looks at how many steps there were


def subject_of(name: str) -> SubjectFile:
    """The reference server, or a mutant of it."""
    file = built_in_file("reference-server")
    if name == HEALTHY:
        return file
    command = [
        word for each in file.command for word in (("tests.futures_mutants", name) if each == "forwarder" else (each,))
    ]
    return replace(file, command=tuple(command))


async def hunt(name: str, *, scripts: int, steps: int, seed: int, routers: RouterThread) -> Played:
    """Drawn scripts until one fails, or there were so many of them, or so many steps."""
    played = Played()
    async with Supervisor() as supervisor:
        subject = ForeignSubject(subject_of(name), supervisor)
        async with Theatre(subject.spec, routers, host_of(subject)) as theatre:
            table = Table(theatre=theatre, loop=asyncio.get_running_loop(), powers=powers_over(subject), played=played)
            while not played.failing and played.scripts < scripts and played.steps.total() < steps:
                examples = min(CHUNK, scripts - played.scripts)
                await asyncio.to_thread(play_drawn, table, examples=examples, seed_number=seed)
                seed += 1
    return played


def report(name: str, played: Played, seconds: float, *, survives: bool) -> bool:
    """One line for each; True: it is as it has to be."""
    total = f"{played.scripts} scripts, {played.steps.total()} steps, {seconds:.0f} s"
    if not played.failing:
        print(f"{name}: no FAIL in {total}")
    else:
        smallest = min(played.failing.values(), key=lambda one: len(one.script.steps))
        print(f"{name}: killed by script {played.first_failed} ({', '.join(sorted(played.failing))}); {total}")
        print(f"  {smallest.finding.says}\n  {dump_script(smallest.script)}")
    for check, shown in played.unknown.items():
        print(f"  UNKNOWN {check}: {shown.finding.says}")
    return bool(played.failing) is not survives


async def work(options: argparse.Namespace) -> bool:
    """All of them."""
    well = True
    with RouterThread() as routers:
        for name in options.names:
            survives = name == HEALTHY
            started = time.monotonic()
            scripts = sys.maxsize if survives else options.scripts
            played = await hunt(name, scripts=scripts, steps=options.steps, seed=options.seed, routers=routers)
            well &= report(name, played, time.monotonic() - started, survives=survives)
            sys.stdout.flush()
            if survives:
                print("  steps: " + ", ".join(f"{step} {count}" for step, count in played.steps.most_common()))
                print("  " + "\n  ".join(f"{one}: {played.situations[one]}" for one in SITUATIONS))
                print("  judged: " + ", ".join(f"{check} {count}" for check, count in played.judged.most_common()))
    return well


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{HEALTHY}, or mutants (default: every mutant)")
    parser.add_argument("--scripts", type=int, default=200, help="of a mutant, at most (default 200)")
    parser.add_argument("--steps", type=int, default=10_000, help="of any, at most, about (default 10,000)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    options.names = options.names or list(MUTANTS)
    return 0 if uvloop.run(work(options)) else 1


if __name__ == "__main__":
    sys.exit(main())
