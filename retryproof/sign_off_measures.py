"""What a sign-off has measured, on a terminal: it judges nothing, and a reviewer weighs it."""

from rich.console import Console
from rich.text import Text

from retryproof.terminal import print_indented, print_line, sheet
from signoff.measured_words import rate, waits
from signoff.sign_off import Amplified, SignOff, Work


def print_measures(out: Console, sign_off: SignOff) -> None:
    """Amplification, time to give up, and work lost and doubled, each where it was measured."""
    _print_amplification(out, sign_off)
    _print_giving_up(out, sign_off)
    if sign_off.work is not None:
        _print_work(out, sign_off.work)


def _print_amplification(out: Console, sign_off: SignOff) -> None:
    if not sign_off.amplification:
        return
    print_line(out, "")
    print_line(out, "amplification: of each operation, base -> candidate")
    numbers = ("at once", "sent", "run", "without a result")
    table = sheet(out, "the router is", *numbers, "", right=numbers, fold=("",))
    for row in sign_off.amplification:
        sides = row.base, row.candidate
        attempts, executions, failed = (_both(*sides, name) for name in ("attempts", "executions", "failed"))
        table.add_row(Text(row.state), str(row.operations), attempts, executions, failed, Text(row.reason))
    print_indented(out, table)


def _both(base: Amplified | None, candidate: Amplified | None, name: str) -> str:
    one, other = ("?" if side is None else f"{getattr(side, name):g}" for side in (base, candidate))
    return f"{one} -> {other}"


def _print_giving_up(out: Console, sign_off: SignOff) -> None:
    differing = [row for row in sign_off.giving_up if row.changed]
    if not differing:
        return
    print_line(out, "")
    print_line(out, "callers wait for a failure, in multiples of the time-out, base -> candidate")
    table = sheet(out, "the forwarder saw", "time-out", "waits", right=("waits",))
    for row in differing:
        table.add_row(Text(row.evidence), row.of, f"{waits(row.base)} -> {waits(row.candidate)}")
    print_indented(out, table)


def _print_work(out: Console, work: Work) -> None:
    print_line(out, "")
    print_line(out, f"of 1,000 operations under the mix {work.mix!r} ({work.origin}):")
    table = sheet(out, "side", "lost", "doubled", "from", right=("lost", "doubled", "from"))
    for name, side in (("base", work.base), ("candidate", work.candidate)):
        table.add_row(name, rate(side.lost), rate(side.doubled), f"{side.operations} drawn, {side.runs} runs")
    print_indented(out, table)
