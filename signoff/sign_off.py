"""signoff.json: base against candidate, and all that its faces (terminal, HTML, Markdown, JUnit) are drawn from.

Faces run nothing and compute no judgement: what a reader is shown is in here. Schema: docs/signoff.schema.json.
"""

from pathlib import Path
from typing import Literal

import msgspec

from signoff.report import CellReport, FaultCount, ReportError, SubjectReport, read_versioned, require_ids
from suites.printable import printable_json

SCHEMA = 1  # another one is refused
MINOR = 1  # as that of a report

ChangeWord = Literal["regressed", "still broken", "fixed", "weaker", "stronger", "same", "unproven"]
SignOffVerdict = Literal["BLOCK", "UNPROVEN", "MAY SHIP"]


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One of the two: who it was, where its own report lies (relative to this file), and why that is not whole.

    named: what it was called on the command line. earlier: its report was made before, and given in place of a subject
    (`--base report.json`).
    """

    subject: SubjectReport
    report: str
    verdict: str
    counts: dict[str, int]
    histogram: dict[str, FaultCount] = {}
    tool: str = ""
    partial: str = ""
    earlier: bool = False
    named: str = ""


class CellDifference(msgspec.Struct, frozen=True, kw_only=True):
    """One cell on both sides; null where a side has none. about: what it has in common with others of that change, such
    as the checks that are broken. excused: by which allowance (its place in `allowances`).
    """

    id: str
    change: ChangeWord
    about: str = ""
    says: str
    base: CellReport | None
    candidate: CellReport | None
    excused: int | None = None


class Did(msgspec.Struct, frozen=True, kw_only=True):
    """What one side does on some evidence, learnt from its ledgers.

    does: "sends again", "gives up", "answers" (it passes on, or makes, an answer), "varies", "not run". attempts: the
    fewest and the most sendings; executions likewise; outcome: what its callers have.
    """

    does: str
    attempts: tuple[int, int] | None = None
    executions: tuple[int, int] | None = None
    outcome: str = ""
    cells: tuple[str, ...] = ()


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the decision table: what the forwarder saw, what was true (both twins), and what each side does.

    says: the sentence that a reviewer needs; empty where both do the same.
    """

    evidence: str
    class_: str = msgspec.field(name="class")
    truth: Literal["not executed", "executed"]
    base: Did
    candidate: Did
    changed: bool
    says: str = ""


class Amplified(msgspec.Struct, frozen=True, kw_only=True):
    """What one side makes of that many operations at once while its router is in that state, per operation."""

    attempts: float
    executions: float
    failed: float


class Amplification(msgspec.Struct, frozen=True, kw_only=True):
    """One row: the state of the router ("down", "slow", "half broken"), and how many operations came at once."""

    state: str
    operations: int
    base: Amplified | None
    candidate: Amplified | None
    reason: str = ""


class GivingUp(msgspec.Struct, frozen=True, kw_only=True):
    """How long a caller waits for a failure, in multiples of the time-outs that the subject states.

    of: which of them ("connect", "read"). base, candidate: the multiple, null where none of its callers met a failure.
    changed: by so much that it is no matter of this machine's load.
    """

    evidence: str
    of: Literal["connect", "read"]
    base: float | None
    candidate: float | None
    changed: bool = False
    cells: tuple[str, ...] = ()


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """A rate per 1,000 operations, and the ends of its 95 % interval."""

    rate: float
    low: float
    high: float


class WorkSide(msgspec.Struct, frozen=True, kw_only=True):
    """Of one side, under the fault mix. lost: its caller has no result in the end; doubled: executed twice or more.
    runs: on how many runs that rests, each of which counts for every draw of its plan.
    """

    operations: int
    runs: int = 0
    lost: Interval
    doubled: Interval


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """Work lost and doubled under a stated mix of faults; origin: where the mix comes from."""

    mix: str
    origin: str
    base: WorkSide
    candidate: WorkSide


class Allowance(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of the allowance file, and what became of it. not examined: all cells that it names are such as were
    not chosen.
    """

    cells: str
    reason: str
    owner: str
    expires: str
    state: Literal["used", "unused", "expired", "not examined"]
    excused: int = 0


class SignOff(msgspec.Struct, frozen=True, kw_only=True):
    """All of one sign-off. `partial` says why it is not whole: then no verdict is claimed (it is UNPROVEN).

    matter: the three lines that matter, in order. exit: the exit code that goes with the verdict. notes: what a reader
    must know of an earlier report that stands in for the base: its version, and what it lacks.
    """

    schema: int = SCHEMA
    minor: int = 0
    tool: str
    verdict: SignOffVerdict
    exit: int
    matter: tuple[str, ...]
    seed: int
    depth: str
    strict: bool
    base: Side
    candidate: Side
    counts: dict[str, int]
    cells: tuple[CellDifference, ...]
    decisions: tuple[Decision, ...] = ()
    amplification: tuple[Amplification, ...] = ()
    giving_up: tuple[GivingUp, ...] = ()
    work: Work | None = None
    allowances: tuple[Allowance, ...] = ()
    partial: str = ""
    notes: tuple[str, ...] = ()


def dump_sign_off(sign_off: SignOff) -> bytes:
    """The sign-off as JSON text, in which nothing steers a terminal."""
    return printable_json(msgspec.json.format(msgspec.json.encode(sign_off), indent=1)) + b"\n"


def load_sign_off(path: Path) -> SignOff:
    """The sign-off in that file. Raises ReportError for what is none of this schema, OSError where unreadable."""
    sign_off = read_versioned(path, SignOff, schema=SCHEMA, minor=MINOR)
    require_ids(path, [each.id for each in sign_off.cells])
    for each in sign_off.cells:
        if each.base is None and each.candidate is None:
            raise ReportError(f"{str(path)!r} has a cell {each.id!r} of neither side; expected it of one of them")
    return sign_off
