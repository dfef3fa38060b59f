"""How scripts of futures are shown: which of them failed on what, the facts of one in order, and what was exercised."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from rich.columns import Columns
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from retryproof.failures import program, quoted
from retryproof.terminal import INDENT, print_labelled, print_line, sheet
from retryproof.writing import Examined
from signoff.futures_timeline import futures_timeline
from suites.futures.judging import invariant_of
from suites.futures.played import Failing
from suites.futures.record import Record
from suites.futures.script import dump_script

SHOWN_WHOLE = 3  # the others have their scripts in the output folder


def print_futures(out: Console, examined: Examined) -> None:
    """The properties that failed, each with the smallest script that shows it; and what all scripts have exercised."""
    if examined.suite is None or examined.suite.not_run:
        return
    played = examined.suite.played
    for place, (script, failing) in enumerate(_by_script(played.failing).items()):
        print_line(out, "")
        names = ", ".join(f"futures/{one.finding.check}" for one in failing)
        print_line(out, Text.assemble(("FAIL", "bold red"), f" {names}"))
        for one in failing:
            check = one.finding.check
            pairs = (("invariant", f"{invariant_of(check)} ({check})"), ("showed", one.finding.says))
            print_labelled(out, *pairs)
        if place < SHOWN_WHOLE:
            for line in script.splitlines():
                print_line(out, line)
            print_record(out, failing[0].record)
        path = examined.folder.plan_path(f"futures/{failing[0].finding.check}")
        print_line(out, f"replay     {_replay(path, examined)}")
    print_line(out, f"futures: {played.scripts} scripts, {played.steps.total()} steps; exercised:")
    print_situations(out, examined.report.situations.items())


def _by_script(failing: Mapping[str, Failing]) -> dict[str, list[Failing]]:
    """What failed on the same script is told together."""
    found: dict[str, list[Failing]] = {}
    for one in failing.values():
        found.setdefault(dump_script(one.script), []).append(one)
    return found


def print_situations(out: Console, situations: Iterable[tuple[str, int]]) -> None:
    """Each with its number, those that never came to pass last."""
    counted = list(situations)
    entries = [f"{name} {count}" for name, count in counted if count]
    out.print(Padding(Columns(entries, padding=(0, 3)), (0, 0, 0, INDENT)))
    never = [name for name, count in counted if not count]
    if never:
        print_line(out, f"never: {', '.join(never)}")


def print_record(out: Console, record: Record) -> None:
    """Callers and server, and the router, side by side in order."""
    table = sheet(
        out, "step", "server's ms", "callers", "router", right=("step", "server's ms"), fold=("callers", "router")
    )
    for line in futures_timeline(record):
        table.add_row(line.step, line.clock, Text(line.caller), Text(line.router))
    out.print(table)


def _replay(path: Path, examined: Examined) -> str:
    words: list[str | Path] = ["replay", path, "--subject", examined.name, *examined.given.words()]
    return " ".join((*program(), *quoted(words)))
