"""results/*.json: what was seen of one configuration of a subject, with its version. The same run gives the same bytes:
no times, no paths of a machine, no numbers that company gives to operations.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Literal

import msgspec

from signoff.report import CellReport, CellVerdict, FindingReport, Report, read_versioned, require_ids
from suites.printable import printable_json

SCHEMA = 1  # another one is refused
MINOR = 0
FOLDER = Path("results")

Kind = Literal["forwarders", "clients", "chains"]
_NUMBER = re.compile(r"\d+(?:\.\d+)+[0-9A-Za-z.+-]*")
_COUNTED = re.compile(r"\b(operation|execution) (\d+)\b")
_Numbers = dict[str, dict[str, int]]  # of a cell: "operation" or "execution", then its number in the report
_UNFIT = re.compile(r"[^A-Za-z0-9._+-]+")


class Mark(StrEnum):
    """What is said of one cell; the first one that holds, in this order."""

    NOT_RUN = "not_run"  # it could not be reached
    MUST = "must"  # a must is broken
    UNKNOWN = "unknown"  # it proved nothing
    VARIES = "varies"  # it went otherwise when it was repeated
    SHOULD = "should"  # a should is broken
    TELLS = "tells"  # recorded: nothing is prescribed
    HOLDS = "holds"  # every must and should holds


class PublishedFinding(msgspec.Struct, frozen=True, kw_only=True):
    """One check's word on one cell. Its operations are counted from 1."""

    check: str
    kind: Literal["must", "should", "tells"]
    verdict: Literal["PASS", "FAIL", "UNKNOWN"]
    says: str


class PublishedCell(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One cell. attempts is null where only a lower bound is known. reason: why it is UNKNOWN or was not run. stalled:
    this machine stalled in every run of it, so that what is said of it may be wrong.
    """

    id: str
    fault: str
    phase: str
    evidence: str
    class_: str = msgspec.field(name="class")
    truth: Literal["executed", "not executed", ""] = ""
    verdict: CellVerdict
    mark: Mark
    attempts: int | None
    accepted: int
    executions: int
    outcome: str
    status: int | None
    reason: str = ""
    varies: bool = False
    stalled: bool = False
    findings: tuple[PublishedFinding, ...] = ()

    @property
    def is_certain(self) -> bool:
        """It can be held against another time: it was run, was judged, and went the same way every time."""
        return not (self.varies or self.stalled or self.mark in (Mark.NOT_RUN, Mark.UNKNOWN))

    @property
    def went(self) -> tuple[str, int | None, int, str, int | None]:
        """What is held against another time."""
        return self.verdict, self.attempts, self.executions, self.outcome, self.status


class Published(msgspec.Struct, frozen=True, kw_only=True):
    """One configuration: who was examined, in which version, with what, and each of its cells.

    values: what its variant sets. configuration, cells_of: digests of all that its file says, and of the plans that
    were lived through: a result whose digests are others is out of date. version: in its own words.
    """

    schema: int = SCHEMA
    minor: int = 0
    tool: str
    subject: str
    kind: Kind
    version: str
    promises: str
    connect_timeout_ms: int
    read_timeout_ms: int
    values: dict[str, str]
    configuration: str
    plans: str
    depth: str
    cells: tuple[PublishedCell, ...]

    @property
    def number(self) -> str:
        """Its version, as a file can be called."""
        return version_number(self.version)

    def counts(self) -> dict[Mark, int]:
        """Cells by what is said of them."""
        return {mark: sum(cell.mark is mark for cell in self.cells) for mark in Mark}


def version_number(said: str) -> str:
    """The first number with a point in what a program says of its version, all that it says where there is none; of a
    chain those of both.
    """
    return "+".join(_number(part) for part in said.split(" + "))


def _number(said: str) -> str:
    found = _NUMBER.search(said)
    return _UNFIT.sub("-", found[0] if found else said).strip("-.")[:60] or "unknown"


def file_name(subject: str, number: str) -> str:
    """Where the result of that subject is, in the folder of results."""
    return f"{_UNFIT.sub('-', subject.replace(':', '--'))}-{number}.json"


def published(report: Report, *, kind: Kind, values: Mapping[str, str], configuration: str, plans: str) -> Published:
    """What is published of a report."""
    return Published(
        minor=MINOR,
        tool=report.tool,
        subject=report.named,
        kind=kind,
        version=report.subject.version,
        promises=report.subject.promises,
        connect_timeout_ms=report.subject.connect_timeout_ms,
        read_timeout_ms=report.subject.read_timeout_ms,
        values=dict(sorted(values.items())),
        configuration=configuration,
        plans=plans,
        depth=report.depth,
        cells=tuple(_cell(cell) for cell in report.cells),
    )


def _cell(cell: CellReport) -> PublishedCell:
    numbers: _Numbers = {}
    return PublishedCell(
        id=cell.id,
        fault=cell.fault,
        phase=cell.phase,
        evidence=cell.evidence,
        class_=cell.class_,
        truth=cell.truth,
        verdict=cell.verdict,
        mark=mark_of(cell),
        attempts=cell.attempts,
        accepted=cell.accepted,
        executions=cell.executions,
        outcome=cell.outcome,
        status=cell.status,
        reason=_renumbered(cell.reason, numbers),
        varies=cell.varies,
        stalled=cell.stalled,
        findings=tuple(_finding(each, numbers) for each in cell.findings),
    )


def mark_of(cell: CellReport) -> Mark:
    """What is said of it, in one word."""
    if cell.verdict == "not_run":
        return Mark.NOT_RUN
    if cell.verdict == "FAIL":
        return Mark.MUST
    if cell.verdict == "UNKNOWN":
        return Mark.UNKNOWN
    if cell.varies:
        return Mark.VARIES
    if cell.warnings:
        return Mark.SHOULD
    return Mark.TELLS if cell.tells else Mark.HOLDS


def _finding(finding: FindingReport, numbers: _Numbers) -> PublishedFinding:
    return PublishedFinding(
        check=finding.check,
        kind=finding.kind,
        verdict=finding.verdict,
        says=_renumbered(finding.says, numbers),
    )


def _renumbered(says: str, numbers: _Numbers) -> str:
    """Operations and executions are counted through all that shares a router; here in the order in which their cell
    names them.
    """

    def number(found: re.Match[str]) -> str:
        of_kind = numbers.setdefault(found[1], {})
        return f"{found[1]} {of_kind.setdefault(found[2], len(of_kind) + 1)}"

    return _COUNTED.sub(number, says)


def dump_published(result: Published) -> bytes:
    """As JSON text, in which nothing steers a terminal."""
    return printable_json(msgspec.json.format(msgspec.json.encode(result), indent=1)) + b"\n"


def load_published(path: Path) -> Published:
    """The result in that file. Raises ReportError for what is none of this schema, OSError where unreadable."""
    result = read_versioned(path, Published, schema=SCHEMA, minor=MINOR)
    require_ids(path, [cell.id for cell in result.cells])
    return result


def load_all(folder: Path) -> tuple[Published, ...]:
    """Every result in that folder, by kind, subject and version. Raises as load_published does."""
    found = [load_published(path) for path in sorted(folder.glob("*.json"))]
    return tuple(sorted(found, key=lambda each: (_KINDS.index(each.kind), each.subject, each.version)))


_KINDS: tuple[Kind, ...] = ("forwarders", "clients", "chains")
