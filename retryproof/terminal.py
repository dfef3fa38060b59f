"""What a person sees: a progress bar and tables on a terminal, plain lines where there is none."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.segment import Segment
from rich.status import Status
from rich.table import Table
from rich.text import Text

from retryproof.output import standard_output
from suites.printable import on_one_line, printable

STYLES = {"PASS": "green", "FAIL": "bold red", "UNKNOWN": "yellow", "not_run": "dim"}
PLAIN_WIDTH = 120  # columns where there is no terminal to ask, and no COLUMNS
NARROWEST = 40
INDENT = 2
ROOMY = 72  # columns from which on ids need not be folded


class Ticker(Protocol):
    """Hears of each step that is done."""

    def __call__(self) -> None:
        """One more."""


class Screen(Console):
    """The one way to a terminal: whatever text is shown there, none of it steers the terminal."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Texts are made printable before they are laid out; rich itself drops some of C0 and keeps ESC and C1."""
        if isinstance(renderable, Text) and not renderable.plain.isprintable():
            renderable = renderable.copy()
            renderable.plain = printable(renderable.plain)
        return super().render(printable(renderable) if isinstance(renderable, str) else renderable, options)


def console(*, quiet: bool = False) -> Screen:
    """Standard output as rich sees it; without colour and movement where it is no terminal."""
    output = standard_output()
    if output.isatty():
        return Screen(file=output, quiet=quiet, highlight=False)
    columns = os.environ.get("COLUMNS", "")
    width = max(NARROWEST, int(columns)) if columns.isdecimal() and len(columns) < 5 else PLAIN_WIDTH
    return Screen(file=output, quiet=quiet, highlight=False, width=width, no_color=True, force_terminal=False)


class Begin(Protocol):
    """Begins a bar: what goes on, and in how many steps."""

    def __call__(self, what: str, total: int) -> Ticker:
        """What hears of each step."""


@contextmanager
def bars(out: Console) -> Iterator[Begin]:
    """A bar for each thing that goes on; nothing where there is no terminal."""
    if out.quiet or not out.is_terminal:
        yield lambda what, total: lambda: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    # What goes to stderr meanwhile stays there: rich would move it to stdout.
    with Progress(*columns, console=out, transient=True, redirect_stdout=False, redirect_stderr=False) as shown:

        def begin(what: str, total: int) -> Ticker:
            task = shown.add_task(escape(what), total=total)
            return lambda: shown.advance(task)

        yield begin


@contextmanager
def progress(out: Console, what: str, total: int) -> Iterator[Ticker]:
    """One bar, while something goes on."""
    with bars(out) as begin:
        yield begin(what, total)


@contextmanager
def steps(out: Console, plain: Callable[[str], None]) -> Iterator[tuple[Callable[[str], None], Callable[[str], None]]]:
    """What hears of each step, and of each line that it writes: a person sees both move; where there is no terminal
    `plain` gets the steps.
    """
    if not out.is_terminal:
        yield (lambda _step: None) if out.quiet else plain, lambda _line: None
        return
    now = ""
    status = Status("", console=out)

    def stage(step: str) -> None:
        nonlocal now
        now = step
        status.update(escape(step))
        status.start()

    try:
        yield stage, lambda text: status.update(escape(f"{now}: {text}"[: out.width - 4]))
    finally:
        status.stop()


def sheet(out: Console, *columns: str, right: tuple[str, ...] = (), fold: tuple[str, ...] = ()) -> Table:
    """A table without lines around it. `right`: columns of numbers. `fold`: columns that give way where it is narrow;
    the others do so only where it is very narrow, so that what they hold can be copied.
    """
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="underline")
    for name in columns:
        whole = name not in fold and out.width >= ROOMY
        table.add_column(name, justify="right" if name in right else "left", no_wrap=whole, overflow="fold")
    return table


def print_indented(out: Console, table: Table) -> None:
    """A table below its title."""
    out.print(Padding(table, (0, 0, 0, INDENT)))


def print_line(out: Console, text: str | Text) -> None:
    """One line that is never folded, so that it can be copied."""
    line = Text(text) if isinstance(text, str) else text.copy()
    line.plain = on_one_line(line.plain)
    out.print(line, soft_wrap=True)


def spans(numbers: Iterable[int]) -> str:
    """Numbers in order, neighbours as a span: "3-7, 9"."""
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and number == found[-1][-1] + 1:
            found[-1][1:] = [number]
        else:
            found.append([number])
    return ", ".join("-".join(map(str, span)) for span in found)


def print_labelled(out: Console, *pairs: tuple[str, str]) -> None:
    """Labels, and beside each its text, folded under itself."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for label, text in pairs:
        table.add_row(label, Text(text))
    out.print(table)
