"""How long does it take to draw every face of a check and of a sign-off, and how large are they?
`python -m benchmarks.faces_time [CELLS]` draws them from literal cells: a third fails, each has a diagram of its own.

Exit codes: 0 within the limits; 1 slower, or larger.
"""

import datetime as dt
import io
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from rich.console import Console

from benchmarks.ratio import ratio_of
from retryproof.cells import print_groups
from retryproof.exits import Exit
from retryproof.faces import FACES
from retryproof.sign_off_folder import FACES as SIGN_OFF_FACES
from retryproof.sign_off_page import print_sign_off
from retryproof.terminal import Screen
from signoff.report import CellReport, FindingReport, Report, Step, SubjectReport, dump_report
from signoff.sign_off import SignOff, dump_sign_off
from signoff.signing_off import sign_off_of

_Shown = TypeVar("_Shown", Report, SignOff)
HTML = "report.html"
LIMIT_S = 5.0  # for all faces of one
LIMIT_BYTES = 5_000_000  # of a page
CELLS = 5_000
_STEPS = 12
_SAYS = "operation {0} was sent again (attempt 2 on upstream 1) after a whole reply with status 503: AMBIGUOUS"
_CLASSES = ("SAFE", "AMBIGUOUS", "FINAL")


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """One face: of what, its name, seconds of one drawing, and its size."""

    of: str
    face: str
    seconds: float
    size_bytes: int


def cell(number: int, *, fails: bool) -> CellReport:
    """One cell of a fault that twenty cells share."""
    steps = tuple(
        Step(number + place, "forwarder", f"upstream {place % 2}", f"operation 1, sending {place}", "", (place,))
        for place in range(_STEPS)
    )
    finding = FindingReport(check="safe-retry", kind="must", verdict="FAIL", says=_SAYS.format(number), entries=(1, 2))
    fault = f"fault-{number // 20}"
    return CellReport(
        id=f"wait/{fault}/dimension-{number % 20}",
        fault=fault,
        phase="wait",
        evidence=f"evidence {number // 200}",
        class_=_CLASSES[number % 3],
        dimensions={"reused": False, "segments": 1, "streaming": False, "upstreams": 2},
        attempts=2 if fails else 1,
        accepted=1,
        executions=2 if fails else 1,
        replied=1,
        outcome="ok",
        status=200,
        delay_ms=number % 977 / 10,
        verdict="FAIL" if fails else "PASS",
        findings=(finding,) if fails else (),
        plan={"operations": [{"faults": [fault]}]},
        truth="executed",
        doubled=int(fails),
        diagram=steps,
    )


def report(count: int, *, third_fails: bool) -> Report:
    """A report of so many cells."""
    cells = tuple(cell(number, fails=third_fails and number % 3 == 0) for number in range(count))
    failed = sum(each.verdict == "FAIL" for each in cells)
    return Report(
        tool="retryproof 0",
        subject=SubjectReport(name="mine", version="1", promises="answering"),
        named="mine.toml",
        seed=0,
        depth="deep",
        strict=False,
        verdict="FAIL" if failed else "PASS",
        counts={"PASS": count - failed, "FAIL": failed, "UNKNOWN": 0, "not_run": 0, "warnings": 0},
        histogram={},
        cells=cells,
    )


def drawings(count: int) -> Iterator[Drawn]:
    """Every face of both, that on a terminal included, and the data that they are drawn from."""
    base, candidate = report(count, third_fails=False), report(count, third_fails=True)
    paths = ("base/report.json", "candidate/report.json")
    signed = sign_off_of(base, candidate, paths=paths, strict=False, today=dt.date(2026, 11, 30))
    yield _drawn("check", "report.json", partial(dump_report, candidate))
    yield from (_drawn("check", name, partial(draw, candidate)) for name, draw in FACES)
    yield _drawn("check", "terminal", partial(_on_terminal, print_groups, candidate))
    yield _drawn("sign-off", "signoff.json", partial(dump_sign_off, signed))
    yield from (_drawn("sign-off", name, partial(draw, signed)) for name, draw in SIGN_OFF_FACES)
    yield _drawn("sign-off", "terminal", partial(_on_terminal, print_sign_off, signed))


def _on_terminal(show: Callable[[Console, _Shown], None], shown: _Shown) -> bytes:
    out = Screen(file=io.StringIO(), width=120, no_color=True)
    show(out, shown)
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue().encode()


def _drawn(of: str, face: str, draw: Callable[[], bytes]) -> Drawn:
    start = time.perf_counter()
    page = draw()
    return Drawn(of=of, face=face, seconds=time.perf_counter() - start, size_bytes=len(page))


def main(count: int = CELLS) -> int:
    """Measure and print; see the module for the exit code."""
    found = list(drawings(count))
    print(f"{count} cells\n{'of':10}{'face':14}{'seconds':>9}{'bytes':>12}")
    for each in found:
        print(f"{each.of:10}{each.face:14}{each.seconds:9.2f}{each.size_bytes:12,}")
    slow = False
    for of in dict.fromkeys(each.of for each in found):
        seconds = sum(each.seconds for each in found if each.of == of)
        html = next(each.size_bytes for each in found if (each.of, each.face) == (of, HTML))
        slow = slow or seconds > LIMIT_S or html > LIMIT_BYTES
        print(f"{of}: {seconds:.2f} s in all (limit {LIMIT_S:g}), {HTML} {html:,} bytes (limit {LIMIT_BYTES:,})")
        print(ratio_of(f"seconds of every face of a {of}, to the limit", [seconds / LIMIT_S], most=1.0).line)
    return Exit.FAIL if slow else Exit.PASS


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
