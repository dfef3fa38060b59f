"""How a FAIL is shown: the invariant, what the run showed, the timeline of both sides, and how to replay it."""

import shlex
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console
from rich.text import Text

from faults.catalogue import fault_named
from retryproof.terminal import print_labelled, print_line, sheet, spans
from retryproof.writing import Examined, smallest_id
from signoff.results import Result
from signoff.timeline import timeline, told
from suites.findings import Claim, Finding, Verdict
from suites.judge import invariant_of
from suites.run import Run

SHOWN_WHOLE = 3  # one of each kind; the others are in the groups above, and each has its plan
AFTER_HEALING = frozenset({"heals", "no-leak", "survives", "answered"})  # checks that look at what came after


def print_failures(out: Console, examined: Examined) -> None:
    """One failure of each kind whole, and how to replay all others; none that is known from a baseline."""
    known = {cell.id for cell in examined.report.cells if cell.known}
    failed = [result for result in examined.results if result.judgement.verdict is Verdict.FAIL]
    failed = [result for result in failed if result.item.id not in known]
    kinds: dict[frozenset[str], Result] = {}
    for result in failed:
        kinds.setdefault(frozenset(finding.check for finding in broken_musts(result)), result)
    shown = list(kinds.values())[:SHOWN_WHOLE]
    for result in shown:
        _print_failure(out, examined, result)
    if len(failed) > len(shown):
        print_line(out, "")
        print_line(out, f"the other {len(failed) - len(shown)} are replayed like these: every cell has its plan in")
        print_line(out, f"  {examined.folder.path / 'plans'} (a / in its id is -- in the file's name)")


def _print_failure(out: Console, examined: Examined, result: Result) -> None:
    print_line(out, "")
    print_line(out, Text.assemble(("FAIL", "bold red"), f" {result.item.id}"))
    pairs = []
    for finding in result.shown.judgement.failures:
        entries = f" (entries {spans(finding.entries)})" if finding.entries else ""
        pairs += [("invariant", f"{invariant_of(finding.check)} ({finding.check})"), ("showed", finding.says + entries)]
    for name in result.shown.run.plan.faults:
        fault = fault_named(name)
        pairs.append(("fault", f"{name}: {fault.says} ({fault.authority})"))
    if result.shown.run.company:
        pairs.append(("company", "other runs had used the same instance before; a fresh one may not show it again"))
    print_labelled(out, *pairs)
    checks = {finding.check for finding in broken_musts(result)}
    print_timeline(out, result.shown.run, after=bool(checks & AFTER_HEALING))
    print_line(out, f"replay     {_replay_command(examined, result)}")


def broken_musts(result: Result) -> list[Finding]:
    """What makes it a FAIL."""
    return [
        finding
        for finding in result.judgement.findings
        if finding.claim is Claim.MUST and finding.verdict is Verdict.FAIL
    ]


def print_timeline(out: Console, run: Run, *, after: bool) -> None:
    """Caller and router, side by side, and what callers were told. `after`: also what came after healing."""
    table = sheet(out, "ms", "entries", "caller", "router", right=("ms", "entries"), fold=("caller", "router"))
    lines = timeline(run)
    for line in lines:
        if after or not line.after:
            table.add_row(f"{line.at_ns / 1e6:.1f}", spans(line.entries), Text(line.caller), Text(line.router))
    out.print(table)
    if told(run):
        print_labelled(out, *(("told", words) for words in told(run)))


def _replay_command(examined: Examined, result: Result) -> str:
    folder = examined.folder
    id_ = result.item.id if result.smallest is None else smallest_id(result.item.id)
    words: list[str | Path] = ["replay", folder.plan_path(id_), "--subject", examined.name, *examined.given.words()]
    cell = result.item.cell
    if cell is not None and cell.twin is not None and {f.check for f in broken_musts(result)} == {"twins"}:
        words += ["--twin", folder.plan_path(cell.twin)]
    return " ".join((*program(), *quoted(words)))


def quoted(words: Iterable[str | Path]) -> list[str]:
    """As a shell reads them back."""
    return [shlex.quote(str(word)) for word in words]


def program() -> list[str]:
    """How this command was called, so that what is printed can be pasted."""
    called = sys.argv[0]
    if Path(called).name == "__main__.py":
        return [*quoted([sys.executable]), "-m", "retryproof"]
    return quoted([Path(called).name if shutil.which(Path(called).name) == called else called])
