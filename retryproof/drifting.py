"""`retryproof survey --compare`: what is seen now of one configuration against what was published of it."""

from rich.console import Console

from retryproof.exits import Exit
from retryproof.options import ExamineOptions
from retryproof.surveying import Candidate, surveyed_on, with_twins
from retryproof.terminal import print_line
from signoff.drift import Drift, comparable, drifted, with_more
from signoff.published import Published

TIMES = 5  # that a cell is lived through before it is said to differ: as one is that tells


def compared(one: Candidate, earlier: Published, options: ExamineOptions, out: Console, place: str) -> Exit:
    """FAIL where a cell never went as it was published, UNKNOWN where nothing could be compared.

    Raises CommandError.
    """
    now = surveyed_on(one, one.items, options, out)
    certain = comparable(earlier, (cell.id for cell in now.cells if cell.is_certain))
    drifts = drifted(earlier, now)
    for _ in range(TIMES - 1):
        open_ = [drift for drift in drifts if not drift.varies]
        if not open_:
            break
        items = with_twins(one.items, [drift.published.id for drift in open_])
        drifts = with_more(drifts, surveyed_on(one, items, options, out))
    differ = [drift for drift in drifts if not drift.varies]
    _print(out, place, differ, "differs")
    _print(out, place, [drift for drift in drifts if drift.varies], "varies")
    left = len(now.cells) - len(certain)
    print_line(out, f"{place}: {len(certain)} cells compared, {len(differ)} differ; {left} left out")
    if differ:
        return Exit.FAIL
    return Exit.PASS if certain else Exit.UNKNOWN


def _print(out: Console, place: str, drifts: list[Drift], what: str) -> None:
    for drift in drifts:
        print_line(out, f"{place}: {what}: {drift}")
