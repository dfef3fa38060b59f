"""How long does a check take? `python -m benchmarks.check_time [SUBJECT ...]` measures core, full, and drawn plans
alone, each as a person starts it, from the command to its end.

Exit codes: 0 within the limits; 1 slower, or a check that did not pass; 4 a subject could not run (its check says why).
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers import ROOT
from benchmarks.ratio import ratio_of
from retryproof.exits import Exit
from signoff.report import Report, load_report

SUBJECTS = ("reference", "nginx")
DRAWN = 200
CHECKS = {
    "core": ("--depth", "core"),
    "full": ("--depth", "full"),
    "drawn": ("--only", "drawn/*", "--examples", str(DRAWN)),
}
# What must be fast enough: seconds on two cores.
LIMITS_S = {("reference", "core"): 10.0, ("reference", "full"): 40.0, ("nginx", "core"): 10.0}
SLOWEST = 5  # phases that are listed


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """One check: what it took, and its report."""

    subject: str
    what: str
    seconds: float
    report: Report

    @property
    def lived(self) -> int:
        """How many cells and plans were run."""
        return sum(cell.runs > 0 and cell.verdict != "not_run" for cell in self.report.cells)

    @property
    def slow(self) -> bool:
        """It took longer than it may."""
        return self.seconds > LIMITS_S.get((self.subject, self.what), float("inf"))


def main(subjects: Sequence[str] = SUBJECTS, *, limited: bool = False) -> int:
    """Measure and print; see the module for the exit code. limited: only what has a limit."""
    timed: list[Timed] = []
    print(f"{'subject':12}{'check':8}{'seconds':>9}{'limit':>7}{'cells':>7}{'ms each':>9}{'runs/s':>8}  verdict")
    for subject in subjects or SUBJECTS:
        for what, options in CHECKS.items():
            if limited and (subject, what) not in LIMITS_S:
                continue
            done = _check(subject, what, options)
            if done is None:
                return Exit.COULD_NOT_RUN
            timed.append(done)
            _print(done)
    for done in timed:
        if done.what == "full":
            _print_phases(done)
        if limit_s := LIMITS_S.get((done.subject, done.what)):
            says = f"seconds of {done.subject}, {done.what}, to the limit"
            print(ratio_of(says, [done.seconds / limit_s], most=1.0).line)
    return Exit.FAIL if any(done.slow or done.report.verdict != "PASS" for done in timed) else Exit.PASS


def _check(subject: str, what: str, options: Sequence[str]) -> Timed | None:
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-m", "retryproof", "check", subject, "--quiet", "--out", out, *options]
        began = time.perf_counter()
        code = subprocess.run(command, cwd=ROOT, check=False).returncode
        seconds = time.perf_counter() - began
        if code not in (Exit.PASS, Exit.FAIL, Exit.UNKNOWN):
            return None
        (report,) = Path(out).glob("*/report.json")
        return Timed(subject=subject, what=what, seconds=seconds, report=load_report(report))


def _print(done: Timed) -> None:
    limit = LIMITS_S.get((done.subject, done.what))
    print(
        f"{done.subject:12}{done.what:8}{done.seconds:9.1f}{'-' if limit is None else f'{limit:.0f}':>7}{done.lived:7}"
        f"{1000 * done.seconds / max(done.lived, 1):9.0f}{done.report.runs_per_second:8.0f}  {done.report.verdict}"
        f"{'   TOO SLOW' if done.slow else ''}",
        flush=True,
    )


def _print_phases(done: Timed) -> None:
    """Where the callers waited: runs go on side by side, so these add up to more than the whole."""
    waited: dict[str, float] = {}
    for cell in done.report.cells:
        phase = "drawn" if "drawn" in cell.dimensions else cell.phase
        waited[phase] = waited.get(phase, 0.0) + cell.delay_ms * cell.runs
    total = sum(waited.values()) or 1.0
    longest = sorted(waited, key=lambda phase: -waited[phase])[:SLOWEST]
    shares = ", ".join(f"{phase} {waited[phase] / total:.0%}" for phase in longest)
    print(f"{done.subject}, full: callers waited {total / 1000:.0f} s in all: {shares}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.check_time", description=__doc__)
    parser.add_argument("subjects", nargs="*", help=f"as `retryproof check` takes them (default: {' '.join(SUBJECTS)})")
    parser.add_argument("--limited", action="store_true", help="only what has a limit")
    given = parser.parse_args()
    sys.exit(main(given.subjects, limited=given.limited))
