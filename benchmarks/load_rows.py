"""What a whole server does under load: `python -m benchmarks.load_rows ROW` runs `retryproof load` as often as the row
says, and holds what its report says against what is expected.

Exit codes: 0 as expected; 1 not, or a check of the load failed; 4 a component is missing, or this machine is too small.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence

import msgspec

from benchmarks.peers import ROOT, MissingError
from benchmarks.ratio import Ratio, ratio_of
from retryproof.exits import Exit
from signoff.load_report import LoadReport, Step
from suites.registry import described
from suites.subject import SubjectError

GIB = 1 << 30
FEW, MANY, SMALL, BURST, WHOLE = 512, 4096, 2048, 32_768, 131_072
CAPACITY, SERVICE_S = 2048, 5
REPEATS = 3
PATIENCE_S, GIVE_UP_S = 280, 850
GROWTH, OF_FLOOR, MEMORY_GIB, ROUTER_KB = 1.15, 1.3, 16.0, 20.0
_REFERENCE = "reference"
_BESIDE = "skyrl"


class FailedError(Exception):
    """A load was not PASS; the message says what was found."""


def growth() -> list[Ratio]:
    """CPU an operation, with few and with many in flight."""
    found = [_loaded(_REFERENCE, "--in-flight", f"{FEW},{MANY}", "--mode", "held") for _ in range(REPEATS)]
    ratios = [_cpu(many) / _cpu(few) for few, many in found]
    return [ratio_of(f"CPU of the server an operation, {MANY} held in flight, to {FEW}", ratios, most=GROWTH)]


def small() -> list[Ratio]:
    """Small results, beside another server where that is installed."""
    words = ("--in-flight", str(SMALL), "--operations", str(SMALL))
    missing = _missing(_BESIDE)
    ours, theirs = [], []
    for _ in range(REPEATS):
        ours += _loaded(_REFERENCE, *words)
        theirs += [] if missing else _loaded(_BESIDE, *words, must_pass=False)
    if missing:
        print(f"not beside {missing}")
        return [_failures("small results", ours)]
    rates = [own.per_second / other.per_second for own, other in zip(ours, theirs, strict=True)]
    cpu = [_cpu(own) / _cpu(other) for own, other in zip(ours, theirs, strict=True)]
    return [
        _failures("small results", ours),
        ratio_of(f"rate of {SMALL} small results through the server, to {_BESIDE}", rates),
        ratio_of(f"CPU of the server an operation, to {_BESIDE}", cpu),
    ]


def engine() -> list[Ratio]:
    """A queue of many times what the engine can hold."""
    floor_s = BURST / CAPACITY * SERVICE_S
    (found,) = _loaded(_REFERENCE, "--in-flight", str(BURST), "--mode", f"engine:{CAPACITY},{SERVICE_S}", rounds=1)
    return [
        _failures("operations through the engine", [found]),
        ratio_of(f"seconds, to the {floor_s:.0f} s that the engine needs", [found.seconds / floor_s], most=OF_FLOOR),
    ]


def burst() -> list[Ratio]:
    """All results at once, and somebody waiting for each."""
    (found,) = _loaded(_REFERENCE, "--in-flight", str(BURST), "--mode", "burst")
    broken = found.counts.get("refused", 0) + found.counts.get("broken", 0)
    return [
        _failures("results of a burst", [found]),
        ratio_of("connections that were refused or reset, to all", [broken / found.counts["connects"]], most=0.0),
    ]


def whole() -> list[Ratio]:
    """As many as a machine of this kind can hold."""
    # With the SDK's own 45 s of patience with a poll, 3,000 a second would be repeated while the others still submit.
    words = ("--in-flight", str(WHOLE), "--mode", "held", "--patience", str(PATIENCE_S), "--give-up", str(GIVE_UP_S))
    (found,) = _loaded(_REFERENCE, *words)
    memory = sum(each.resident_bytes for each in found.processes) / GIB
    routers = sum(each.resident_bytes for each in found.processes if each.role == "router") / WHOLE / 1000
    return [
        _failures(f"operations, with {found.most_in_flight} in flight at once", [found]),
        ratio_of("GiB of memory of all processes together", [memory], most=MEMORY_GIB),
        ratio_of("KB of a router for each exchange that it holds", [routers], most=ROUTER_KB),
    ]


ROWS: Mapping[str, Callable[[], list[Ratio]]] = {
    "load_growth": growth,
    "load_small": small,
    "load_engine": engine,
    "load_burst": burst,
    "load_held": whole,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run that row; see the module for the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load_rows", description=__doc__)
    parser.add_argument("row", choices=ROWS)
    row = parser.parse_args(argv).row
    try:
        ratios = ROWS[row]()
    except MissingError as error:
        print(f"{row}: {error}", file=sys.stderr)
        return 4
    except FailedError as error:
        print(f"{row}: {error}", file=sys.stderr)
        return 1
    for ratio in ratios:
        print(ratio.line)
    return 0 if all(ratio.met for ratio in ratios) else 1


def _loaded(subject: str, *words: str, rounds: int | None = None, must_pass: bool = True) -> list[Step]:
    """Every step of that load. Raises MissingError where it cannot run, FailedError where it must pass and does not."""
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-m", "retryproof", "load", subject, *words, "--json", "--out", out]
        if rounds is not None:
            command += ["--operations", str(rounds * int(words[words.index("--in-flight") + 1]))]
        ran = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    if ran.returncode not in (Exit.PASS, Exit.FAIL, Exit.UNKNOWN):
        raise MissingError(ran.stderr.decode().strip() or f"{' '.join(command)} ended with {ran.returncode}")
    report = msgspec.json.decode(ran.stdout, type=LoadReport)
    for step in report.steps:
        _print(subject, report, step)
    if must_pass and report.verdict != "PASS":
        says = [
            f"{each.check}: {each.says}" for step in report.steps for each in step.findings if each.verdict != "PASS"
        ]
        raise FailedError(f"{report.verdict}: {'; '.join(says)}")
    return list(report.steps)


def _print(subject: str, report: LoadReport, step: Step) -> None:
    latency, used = step.latency_ms, sum(each.cpu_s for each in step.processes)
    roles = dict.fromkeys(each.role for each in step.processes)
    by_role = {role: sum(each.cpu_s for each in step.processes if each.role == role) for role in roles}
    ordered = sorted(by_role, key=by_role.__getitem__, reverse=True)
    shares = ", ".join(f"{role} {by_role[role] / used:.0%}" for role in ordered)
    busy = used / (step.seconds * report.machine.cores)
    memory = sum(each.resident_bytes for each in step.processes) / GIB
    print(
        f"{subject} ({report.subject.version}), {report.mode}, {step.in_flight} in flight "
        f"({step.layout.instances} instances, {step.layout.routers} routers, {step.layout.callers} callers): "
        f"{step.operations} operations in {step.seconds:.1f} s, {step.operations - step.succeeded} failed, "
        f"{step.per_second:.0f}/s; p50 {latency.p50 or 0:.0f} ms, p99 {latency.p99 or 0:.0f} ms; {_cpu(step):.2f} "
        f"ms of CPU and {(step.resident_bytes_per_operation or 0) / 1024:.0f} KiB of the subject an operation; "
        f"{memory:.1f} GiB in all; {dict(step.counts)}; {report.verdict}",
        flush=True,
    )
    print(f"bottleneck: {step.in_flight} in flight: {busy:.0%} of the cores were busy, of that: {shares}", flush=True)


def _cpu(step: Step) -> float:
    return step.cpu_ms_per_operation or 0.0


def _failures(what: str, steps: Sequence[Step]) -> Ratio:
    """What failed, or was done twice, to all."""
    wrong = [
        (step.operations - step.succeeded + abs(step.executions - step.operations)) / step.operations for step in steps
    ]
    return ratio_of(f"{what} that failed or were executed twice, to all {steps[0].operations}", wrong, most=0.0)


def _missing(subject: str) -> str:
    """Why it cannot run here, with its install line; empty: it can."""
    try:
        asyncio.run(described(subject))
    except SubjectError as error:
        return str(error)
    return ""


if __name__ == "__main__":
    sys.exit(main())
