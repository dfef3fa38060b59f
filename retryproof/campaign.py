"""All configurations of a survey: one after the other, or side by side; whatever one of them does, it goes on."""

import time
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from retryproof.beside import Turn, side_by_side
from retryproof.drifting import compared
from retryproof.exits import CommandError, Exit, joined
from retryproof.options import ExamineOptions
from retryproof.output import say
from retryproof.surveying import (
    Candidate,
    MissingError,
    candidate,
    other_versions,
    require_proof,
    start_ms,
    surveyed,
    write_result,
)
from retryproof.terminal import print_line
from signoff.published import Published
from suites.subject import Isolation


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """names: those that were asked for, if any were. turn: its place, where this is one of those that are surveyed side
    by side. shared: words that each of these is told.
    """

    names: tuple[str, ...]
    asked: bool
    results: Path
    examine: ExamineOptions
    again: bool
    compare: bool
    turn: str | None
    shared: tuple[str, ...]

    @property
    def beside(self) -> bool:
        """Each has a process of its own, so many at a time; on a cluster they share all of it, one after the other."""
        return self.at_once > 1 and len(self.names) > 1 and not self.compare and self.examine.ray is None

    @property
    def at_once(self) -> int:
        """How many side by side."""
        return self.examine.jobs or 1


@dataclass(slots=True)
class _Course:
    """What became of it so far. waiting: those that are surveyed side by side, once all are known."""

    codes: list[Exit] = field(default_factory=list)
    waiting: list[tuple[Candidate, str]] = field(default_factory=list)


def survey(wanted: Wanted, out: Console) -> Exit:
    """All that is wanted. Raises CommandError where no more can be written."""
    began = time.monotonic()
    course = _Course()
    if _begin_each(wanted, out, course):
        course.codes += _side_by_side(course.waiting, wanted, out)
    codes = course.codes
    done = len(codes) - sum(code in (Exit.COULD_NOT_RUN, Exit.INTERRUPTED) for code in codes)
    if not wanted.turn:
        print_line(out, f"{done} of {len(wanted.names)} configurations in {time.monotonic() - began:.0f} s")
    if wanted.compare and not codes:
        return Exit.UNKNOWN
    return joined(codes)


def _begin_each(wanted: Wanted, out: Console, course: _Course) -> bool:
    """False: interrupted, or asked for in a way that makes no sense."""
    for number, name in enumerate(wanted.names, 1):
        try:
            _begin(name, wanted.turn or f"{number}/{len(wanted.names)}", wanted, out, course)
        except MissingError as error:
            say(f"not surveyed: {error}")
            course.codes += [Exit.COULD_NOT_RUN] if wanted.asked else []
        except CommandError as error:
            say(f"{name}: {error}")
            course.codes.append(error.code)
            if error.code in (Exit.INTERRUPTED, Exit.USAGE):
                return False
    return True


def _begin(name: str, turn: str, wanted: Wanted, out: Console, course: _Course) -> None:
    one = candidate(name, wanted.examine, wanted.results)
    place = f"[{turn}] {name} {one.number}"
    if wanted.compare:
        course.codes += _compare(one, wanted, out, place)
        return
    earlier = one.earlier()
    if earlier is not None and one.is_up_to_date(earlier) and not wanted.again:
        print_line(out, f"{place}: up to date")
        course.codes.append(Exit.PASS)
    elif wanted.beside:
        course.waiting.append((one, turn))
    else:
        course.codes.append(_publish(one, wanted, out, place))


def _side_by_side(waiting: list[tuple[Candidate, str]], wanted: Wanted, out: Console) -> list[Exit]:
    """Those that may take longest to start come first: else one of them would be under way alone at the end."""
    waiting = sorted(waiting, key=lambda each: -each[0].spec.start_ms)
    turns = [Turn(name=one.name, words=("survey", one.name, "--turn", turn, *wanted.shared)) for one, turn in waiting]
    return side_by_side(turns, wanted.at_once, lambda line: print_line(out, line))


def _publish(one: Candidate, wanted: Wanted, out: Console, place: str) -> Exit:
    _say_other_versions(one)
    _print_budget(one, out, place)
    began = time.monotonic()
    result = surveyed(one, wanted.examine, out)
    require_proof(result)
    write_result(one.path, result)
    print_line(out, f"{place}: {_counted(result)}; {time.monotonic() - began:.0f} s; {one.path}")
    return Exit.PASS


def _compare(one: Candidate, wanted: Wanted, out: Console, place: str) -> list[Exit]:
    """None where nothing is published of this version: that of another says nothing of it."""
    earlier = one.earlier()
    if earlier is None:
        _say_other_versions(one)
        print_line(out, f"{place}: nothing is published of this version")
        return []
    if _changed(one, earlier, wanted):
        print_line(out, f"{place}: its configuration or its plans have changed since it was published")
    return [compared(one, earlier, wanted.examine, out, place)]


def _changed(one: Candidate, earlier: Published, wanted: Wanted) -> bool:
    """Of a part of the cells only the configuration says whether it is up to date."""
    if wanted.examine.choice.only is not None:
        return earlier.configuration != one.configuration.digest
    return not one.is_up_to_date(earlier)


def _say_other_versions(one: Candidate) -> None:
    """Whoever looks for what was published finds another version than the one that runs here."""
    if others := other_versions(one):
        say(f"{one.name}: here is version {one.number}; published is another one: {', '.join(others)}")


def _print_budget(one: Candidate, out: Console, place: str) -> None:
    """What it takes to start it, before that is begun. Raises CommandError for one that does not start."""
    ms = start_ms(one.name, out)
    runs = sum(item.times for item in one.items)
    starts = f"starts in {ms:.0f} ms, shared by {runs} runs"
    if one.spec.first_shared:
        starts = f"starts in {ms:.0f} ms, its first shared by {runs} runs"
    elif one.spec.isolation is Isolation.FRESH:
        starts = f"starts in {ms:.0f} ms x {runs} runs = {ms * runs / 1000:.1f} s"
    print_line(out, f"{place}: {len(one.items)} cells, {starts}")


def _counted(result: Published) -> str:
    return ", ".join(f"{count} {mark}" for mark, count in result.counts().items() if count)
