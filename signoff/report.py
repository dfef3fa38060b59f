"""report.json: the one data model that every face of a report is drawn from."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from suites.printable import printable_json, shortened

SCHEMA = 1  # another one is refused
MINOR = 1  # of the keys in it: one more with each version that adds some; an older version passes over those

MOST_ID_BYTES = 200  # a file is called so, and more

CellVerdict = Literal["PASS", "FAIL", "UNKNOWN", "not_run"]
OverallVerdict = Literal["PASS", "FAIL", "UNKNOWN"]


class ReportError(ValueError):
    """A file that is no report of this schema; the message says which and what was expected."""


class FindingReport(msgspec.Struct, frozen=True, kw_only=True):
    """One check's word on one cell; `entries` are seqs of the cell's ledger."""

    check: str
    kind: Literal["must", "should", "tells"]
    verdict: Literal["PASS", "FAIL", "UNKNOWN"]
    says: str
    entries: tuple[int, ...] = ()


class Step(msgspec.Struct, frozen=True, array_like=True):
    """One arrow or mark of a cell's sequence diagram. who: "caller", "forwarder", "toxiproxy" or "upstream N"; whom: to
    whom it goes, empty for a mark on `who` itself. ms: since the first step. entries: seqs of the cell's ledger.
    """

    ms: int
    who: str
    whom: str
    says: str
    mark: Literal["", "strike", "accepted", "executed"] = ""
    entries: tuple[int, ...] = ()


class CellReport(msgspec.Struct, frozen=True, kw_only=True):
    """One cell, or one drawn plan (`fault` then names every fault that it holds).

    attempts is null where only a lower bound is known (a dropped or refused connect without a packet witness).
    runs: how often it was lived through: more than once where it only tells, where company or a stall of this machine
    made it doubtful, and where it was cut down to its smallest plan. truth: whether the work of a sending that met the
    fault had been done; empty where more than one fault or operation is in it. doubled: how many of its operations were
    executed more than once.
    delay_ms: from the caller's invocation to its outcome, the longest of the plan's operations. run: which of the
    cell's runs in ledger.jsonl stands for it, from 1; 0 where none was made. known: it fails as it did in the baseline,
    which makes no report fail. stalled: this machine stalled meanwhile, so that its times say nothing.
    """

    id: str
    fault: str
    phase: str
    evidence: str
    class_: str = msgspec.field(name="class")
    dimensions: dict[str, Any]
    attempts: int | None
    accepted: int
    executions: int
    replied: int
    outcome: str
    status: int | None
    delay_ms: float
    verdict: CellVerdict
    reason: str = ""
    warnings: int = 0
    varies: bool = False
    tells: bool = False
    runs: int = 1
    findings: tuple[FindingReport, ...] = ()
    plan: dict[str, Any]
    smallest: dict[str, Any] | None = None
    run: int = 0
    truth: Literal["executed", "not executed", ""] = ""
    doubled: int = 0
    diagram: tuple[Step, ...] = ()
    known: bool = False
    stalled: bool = False


class SubjectReport(msgspec.Struct, frozen=True, kw_only=True):
    """Who was examined. Its time-outs, in ms, are what its configuration says; 0 where an older report says none."""

    name: str
    version: str
    promises: str
    contract: tuple[dict[str, Any], ...] = ()
    connect_timeout_ms: int = 0
    read_timeout_ms: int = 0


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """Many operations at once while the router was in that state: sendings and executions, and how many of their
    callers had no result. operations: 0 where it could not be had, for that reason.
    """

    state: str
    at_once: int
    operations: int = 0
    attempts: int = 0
    executions: int = 0
    failed: int = 0
    reason: str = ""


class Worked(msgspec.Struct, frozen=True, kw_only=True):
    """Operations that each met one fault of a mix. per_1000: how many of 1,000 operations meet one. operations: how
    many were drawn and lived through; lost: those whose caller had no result in the end; doubled: those that were
    executed more than once. unmeasured: faults of the mix that cannot strike here, each with the reason. runs: on how
    many runs that rests, each of which counts for every draw of its plan; weight: as how many operations with a run of
    their own these count. drawn: a digest of the plans, in order: what was not measured on the same is not compared.
    """

    mix: str
    origin: str
    per_1000: float
    operations: int
    lost: int
    doubled: int
    unmeasured: dict[str, str] = {}
    runs: int = 0
    weight: float = 0.0
    drawn: str = ""


class FaultCount(msgspec.Struct, frozen=True, kw_only=True):
    """How often a fault was planned, struck, and took part in a run that was judged."""

    planned: int = 0
    struck: int = 0
    judged: int = 0


class Baseline(msgspec.Struct, frozen=True, kw_only=True):
    """An earlier report, whose failures are known: where it lies, of whom it is, and which version made it. known: how
    many cells fail as they did there; mended: those that failed there and pass now.
    """

    report: str
    subject: str
    tool: str
    known: int
    mended: tuple[str, ...] = ()


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """All of one examination. named: what its subject was called on the command line. `partial` says why it is not
    whole. situations: what the scripts of futures have exercised, and how often; empty where there were none. baseline:
    what its failures were held against; the verdict is then that of all cells that are not known to fail.
    """

    schema: int = SCHEMA
    minor: int = 0
    tool: str
    subject: SubjectReport
    named: str = ""
    seed: int
    depth: str
    strict: bool
    verdict: OverallVerdict
    counts: dict[str, int]
    histogram: dict[str, FaultCount]
    cells: tuple[CellReport, ...]
    runs_per_second: float = 0.0
    partial: str = ""
    situations: dict[str, int] = {}
    loads: tuple[Loaded, ...] = ()
    work: Worked | None = None
    baseline: Baseline | None = None


def dump_report(report: Report) -> bytes:
    """The report as JSON text, in which nothing steers a terminal."""
    return printable_json(msgspec.json.format(msgspec.json.encode(report), indent=1)) + b"\n"


class _Versioned(msgspec.Struct):
    schema: int
    minor: int = 0


_Read = TypeVar("_Read", bound=msgspec.Struct)


def load_report(path: Path) -> Report:
    """The report in that file. Raises ReportError for what is no report of this schema, OSError where unreadable."""
    report = read_versioned(path, Report, schema=SCHEMA, minor=MINOR)
    require_ids(path, [cell.id for cell in report.cells])
    return report


def require_ids(path: Path, ids: Sequence[str]) -> None:
    """Each names one cell alone, and a file with its plan. Raises ReportError."""
    counts = Counter(ids)
    for id_, count in counts.items():
        if count > 1:
            raise ReportError(f"{str(path)!r} has {count} cells {id_!r}; expected each once")
        if not id_.isprintable() or not 0 < len(id_.encode()) <= MOST_ID_BYTES:
            raise ReportError(
                f"{str(path)!r} has a cell {shortened(id_, 80)!r}; expected a printable name of at most "
                f"{MOST_ID_BYTES} bytes"
            )


def read_versioned(path: Path, kind: type[_Read], *, schema: int, minor: int) -> _Read:
    """What that file holds. Of a newer minor version keys that are not known here are passed over.

    Raises ReportError for another schema and for what is none, OSError where unreadable.
    """
    data = path.read_bytes()
    newer = ""
    try:
        found = msgspec.json.decode(data, type=_Versioned)
        if found.schema != schema:
            hint = ": it is from a newer version" if found.schema > schema else ""
            raise ReportError(
                f"{str(path)!r} has schema {found.schema!r}; this version of retryproof reads {schema}{hint}"
            )
        if found.minor > minor:
            newer = f"; it has schema {schema}.{found.minor}, newer than {schema}.{minor}, which this version writes"
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ReportError(
            f"{str(path)!r} is no {kind.__name__} ({error}); expected one of schema {schema}{newer}"
        ) from None
