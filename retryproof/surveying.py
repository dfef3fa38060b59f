"""One configuration of a survey: is there a result of it, what does it take, and what is seen of it."""

import asyncio
import math
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
from rich.console import Console

from retryproof.configuration import Configuration, configuration_of, plans_digest
from retryproof.examine import examine_subject, items_for
from retryproof.exits import CommandError, Exit
from retryproof.folder import write_whole
from retryproof.options import ExamineOptions
from retryproof.output import say
from retryproof.sessions import Session, with_subject
from signoff.items import Item
from signoff.published import (
    Mark,
    Published,
    dump_published,
    file_name,
    load_all,
    load_published,
    published,
    version_number,
)
from signoff.report import CellReport, Report, ReportError
from signoff.reporting import counts_of
from suites.registry import described
from suites.subject import SubjectError, SubjectSpec

QUICK_MS = 1_000  # what takes longer is not started once more to be measured
IN_VAIN = 2  # rounds that proved nothing though this machine did not stall: what hangs goes on to hang
ROUNDS = 3  # of what proved nothing, or was lived through while this machine stalled


class MissingError(CommandError):
    """A subject that is not installed here; the message says what to install."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One configuration that can run here. path: of its result."""

    name: str
    spec: SubjectSpec
    items: tuple[Item, ...]
    configuration: Configuration
    path: Path

    @property
    def number(self) -> str:
        """Its version, as a file is called."""
        return version_number(self.spec.version)

    @property
    def plans(self) -> str:
        """The digest of what it is to live through."""
        return plans_digest(self.items)

    def earlier(self) -> Published | None:
        """The result that is there, whether or not it is up to date. Raises CommandError for a file that is none."""
        try:
            return load_published(self.path)
        except FileNotFoundError:
            return None
        except (ReportError, OSError) as error:
            raise CommandError(f"{error}; expected a result, or no such file", Exit.USAGE) from None

    def is_up_to_date(self, earlier: Published) -> bool:
        """It was made with the same configuration, on the same plans."""
        return (earlier.configuration, earlier.plans) == (self.configuration.digest, self.plans)


def candidate(name: str, options: ExamineOptions, results: Path) -> Candidate:
    """That subject, if it can run here; starts nothing but its version command. Raises MissingError, CommandError."""
    items = items_for([name], options)
    try:
        spec = asyncio.run(described(name))
    except SubjectError as error:
        raise MissingError(str(error), Exit.COULD_NOT_RUN) from None
    version = "unknown" if spec.version.startswith("unknown") else spec.version
    return Candidate(
        name=name,
        spec=replace(spec, version=version),
        items=items,
        configuration=configuration_of(name),
        path=results / file_name(name, version_number(version)),
    )


def start_ms(name: str, console: Console) -> float:
    """How long an instance takes until it is ready; where that is no more than QUICK_MS the second time, for by then
    this machine has read its files. Raises CommandError where it never is.
    """

    async def once(session: Session) -> float:
        began = time.monotonic()
        async with session.driver.stages.one():
            return (time.monotonic() - began) * 1000

    async def work(session: Session) -> float:
        first = await once(session)
        return await once(session) if first <= QUICK_MS else first

    return with_subject(name, work, console=console)


def surveyed(one: Candidate, options: ExamineOptions, console: Console) -> Published:
    """What is seen of it. Raises CommandError."""
    return surveyed_on(one, one.items, options, console)


def surveyed_on(one: Candidate, items: tuple[Item, ...], options: ExamineOptions, console: Console) -> Published:
    """The same, on these items. Raises CommandError."""
    return published(
        seen(one, items, options, console),
        kind=one.configuration.kind,
        values=one.configuration.values,
        configuration=one.configuration.digest,
        plans=plans_digest(items),
    )


def seen(one: Candidate, items: tuple[Item, ...], options: ExamineOptions, console: Console) -> Report:
    """The report on these items. What proved nothing, or was lived through while this machine stalled, is lived through
    again, as long as that may bring something else and less than half of its time is over. Raises CommandError.
    """
    began, limit_s = time.monotonic(), options.limit_s or math.inf
    report = examine_subject(one.name, items, options, console).report
    in_vain: Counter[str] = Counter()
    for _ in range(ROUNDS):
        doubtful = {cell.id for cell in report.cells if _is_doubtful(cell) and in_vain[cell.id] < IN_VAIN}
        left_s = limit_s - (time.monotonic() - began)
        if not doubtful or left_s < limit_s / 2:
            break
        again = _once_more(one, with_twins(items, doubtful), _limited(options, left_s), console)
        if again is None:
            break
        report = _with(report, [cell for cell in again.cells if cell.id in doubtful])
        in_vain.update(cell.id for cell in report.cells if cell.id in doubtful and not cell.stalled)
    subject = msgspec.structs.replace(report.subject, version=one.spec.version)
    return msgspec.structs.replace(report, subject=subject, named=one.name)


def _once_more(one: Candidate, items: tuple[Item, ...], options: ExamineOptions, console: Console) -> Report | None:
    """None, and a message, where it could not run: what is known of it already stays known. Raises CommandError where
    it was interrupted.
    """
    try:
        return examine_subject(one.name, items, options, console).report
    except CommandError as error:
        if error.code is not Exit.COULD_NOT_RUN:
            raise
        say(f"{one.name}: what proved nothing was not lived through again: {error}")
        return None


def _limited(options: ExamineOptions, left_s: float) -> ExamineOptions:
    """The same with so much time; with no limit where there was none."""
    return options if options.limit_s is None else replace(options, limit_s=round(left_s, 1))


def _is_doubtful(cell: CellReport) -> bool:
    """It proved nothing, or one of its musts is open beside another that is broken; or this machine stalled."""
    open_ = any(each.kind == "must" and each.verdict == "UNKNOWN" for each in cell.findings)
    return cell.verdict == "UNKNOWN" or open_ or cell.stalled


def with_twins(items: Iterable[Item], ids: Iterable[str]) -> tuple[Item, ...]:
    """Those of the items, and what each of them is held against."""
    wanted = set(ids)
    wanted |= {item.cell.twin for item in items if item.id in wanted and item.cell is not None and item.cell.twin}
    return tuple(item for item in items if item.id in wanted)


def _with(report: Report, again: Iterable[CellReport]) -> Report:
    later = {cell.id: cell for cell in again}
    cells = tuple(later.get(cell.id, cell) for cell in report.cells)
    return msgspec.structs.replace(report, cells=cells, counts=counts_of(cells))


def other_versions(one: Candidate) -> list[str]:
    """The files in which other versions of it are published. Raises CommandError."""
    try:
        found = load_all(one.path.parent)
    except (ReportError, OSError) as error:
        raise CommandError(str(error), Exit.USAGE) from None
    return [
        file_name(each.subject, each.number) for each in found if each.subject == one.name and each.number != one.number
    ]


def require_proof(result: Published) -> None:
    """Something was judged: what proves nothing is no result. Raises CommandError."""
    nothing = (Mark.NOT_RUN, Mark.UNKNOWN)
    if any(cell.mark not in nothing for cell in result.cells):
        return
    reasons = {mark: next((cell for cell in result.cells if cell.mark is mark and cell.reason), None) for mark in Mark}
    first = reasons[Mark.UNKNOWN] or reasons[Mark.NOT_RUN]
    why = "" if first is None else f". Of {first.id} it is said: {first.reason}"
    raise CommandError(
        f"not one of its {len(result.cells)} cells was judged, so that nothing is published{why}", Exit.COULD_NOT_RUN
    )


def write_result(path: Path, result: Published) -> None:
    """Whole or not at all. Raises CommandError."""
    write_whole(path, dump_published(result))
