"""From an examination to the report that every face is drawn from."""

from collections import Counter
from collections.abc import Iterable
from importlib.metadata import version
from typing import Literal, assert_never

from fake_router.entries import Striking, Struck
from faults.catalogue import CATALOGUE, DISTURBANCES, FAMILIES, LETS_PASS, POISONS, fault_named, filed_under
from faults.fault import Fault
from faults.plan_json import plan_to_json
from faults.vocabulary import Replied
from signoff.diagram import diagram_of
from signoff.futures_cells import futures_cells
from signoff.items import Choice, Item
from signoff.report import (
    MINOR,
    CellReport,
    CellVerdict,
    FaultCount,
    FindingReport,
    OverallVerdict,
    Report,
    SubjectReport,
)
from signoff.results import Examination, Result
from suites.accounts import Account, accounts_of, view_of
from suites.findings import Claim, Finding, Verdict
from suites.futures.situations import OF_CONTAINERS, SITUATIONS
from suites.futures.suite import Suite
from suites.lives import stalled
from suites.run import Run
from suites.subject import SubjectSpec


def report_of(
    examination: Examination,
    choice: Choice,
    *,
    strict: bool,
    seconds: float,
    partial: str = "",
    suite: Suite | None = None,
    named: str = "",
) -> Report:
    """The report of what has been lived through so far; `partial` says why that is not all. named: what the subject
    was called on the command line. suite: that of futures,
    where there was one.
    """
    results = examination.in_order()
    cells = tuple(_cell_of(examination, result, strict=strict) for result in results)
    cells += () if suite is None else futures_cells(suite, strict=strict)
    lived = sum(run.unreachable is None for runs in examination.lived.values() for run in runs)
    return Report(
        minor=MINOR,
        tool=f"retryproof {version('retryproof')}",
        subject=_subject_report(examination.spec),
        named=named,
        seed=choice.seed,
        depth=choice.depth,
        strict=strict,
        verdict=_unless_partial(overall(cells), partial),
        counts=counts_of(cells),
        histogram=_histogram(examination),
        cells=cells,
        runs_per_second=round(lived / seconds, 1) if seconds else 0.0,
        partial=partial,
        situations={} if suite is None or suite.not_run else _situations(suite),
    )


def _situations(suite: Suite) -> dict[str, int]:
    names = SITUATIONS if suite.powers.no_container else (*SITUATIONS, *OF_CONTAINERS)
    return {name: suite.played.situations[name] for name in names}


def _cell_of(examination: Examination, result: Result, *, strict: bool) -> CellReport:
    runs = len(examination.lived[result.item.id])
    return cell_report(result, run=examination.number_of(result), runs=runs, strict=strict)


def overall(cells: tuple[CellReport, ...]) -> OverallVerdict:
    """The worst of what was judged; UNKNOWN where nothing was."""
    verdicts = {cell.verdict for cell in cells}
    if "FAIL" in verdicts:
        return "FAIL"
    return "UNKNOWN" if "UNKNOWN" in verdicts or "PASS" not in verdicts else "PASS"


def _unless_partial(verdict: OverallVerdict, partial: str) -> OverallVerdict:
    """What was not looked at may fail: a part proves a FAIL, and never a PASS."""
    return "UNKNOWN" if partial and verdict == "PASS" else verdict


def _subject_report(spec: SubjectSpec) -> SubjectReport:
    contract = tuple({"status": m.status, "body": m.body} for m in spec.facts.contract.not_accepted)
    return SubjectReport(
        name=spec.facts.name,
        version=spec.version,
        promises=spec.facts.promises,
        contract=contract,
        connect_timeout_ms=spec.connect_timeout_ms,
        read_timeout_ms=spec.read_timeout_ms,
    )


def counts_of(cells: tuple[CellReport, ...]) -> dict[str, int]:
    """Cells by verdict, and their warnings."""
    counts: Counter[str] = Counter(dict.fromkeys(("PASS", "FAIL", "UNKNOWN", "not_run", "warnings"), 0))
    counts.update(cell.verdict for cell in cells)
    counts["warnings"] = sum(cell.warnings for cell in cells)
    return dict(counts)


def _histogram(examination: Examination) -> dict[str, FaultCount]:
    planned: Counter[str] = Counter()
    struck: Counter[str] = Counter()
    judged: Counter[str] = Counter()
    for result in examination.in_order():
        planned.update(_filed(result.item.faults))
        met = _filed(_struck(result.item, examination.lived[result.item.id]))
        struck.update(met)
        if result.judgement.verdict in (Verdict.PASS, Verdict.FAIL):
            judged.update(met)
    toxics = [id_ for id_ in POISONS if planned[id_]]  # only where a toxic is itself the fault
    done = [id_ for id_ in DISTURBANCES if planned[id_]]  # and only where there is a container
    names = toxics or [*done, *CATALOGUE, *(family.name for family in FAMILIES)]
    return {name: FaultCount(planned=planned[name], struck=struck[name], judged=judged[name]) for name in names}


def _filed(faults: Iterable[str]) -> set[str]:
    """Members of a family that are not in the catalogue are counted together."""
    return {filed_under(fault) for fault in faults}


def _struck(item: Item, lived: list[Run]) -> set[str]:
    """The faults of the plan that struck in any run of it. Health strikes by letting an exchange through."""
    met: set[str] = set()
    for run in lived:
        closed = {entry.striking for entry in run.ledger if isinstance(entry, Struck)}
        met |= {entry.fault for entry in run.ledger if isinstance(entry, Striking) and entry.seq in closed}
        if any(account.executions for account in accounts_of(run).planned):
            met.add(LETS_PASS.id)
    return met & set(item.faults)


def cell_report(result: Result, *, run: int, runs: int, strict: bool) -> CellReport:
    """One row; `run` is the number of the run that stands for it."""
    item, lived, judgement = result.item, result.run, result.judgement
    accounts = accounts_of(lived).planned if lived.unreachable is None else ()
    outcomes = [outcome for outcome in lived.history if outcome.operation in lived.operations]
    fault = view_of(lived).met((item.cell.fault if item.cell is not None else fault_named(item.faults[0])).id)
    verdict, reason = _verdict(result, strict=strict)
    return CellReport(
        id=item.id,
        fault=", ".join(item.faults),
        phase=fault.phase,
        evidence=" ".join(filter(None, (str(fault.evidence.sight), str(fault.evidence.status or "")))),
        class_=fault.class_under(lived.subject.contract) if item.cell is not None else "-",
        dimensions=item.dimensions(),
        attempts=_attempts(accounts),
        accepted=sum(len(account.accepted) for account in accounts),
        executions=sum(len(account.executions) for account in accounts),
        replied=sum(one.replied is Replied.WHOLE for account in accounts for one in account.attempts),
        outcome=", ".join(outcome.kind for outcome in outcomes),
        status=outcomes[0].status if len(outcomes) == 1 else None,
        delay_ms=round(max((outcome.delay_ms for outcome in outcomes), default=0.0), 1),
        verdict=verdict,
        reason=reason,
        warnings=len(judgement.warnings),
        varies=result.varies,
        tells=item.tells,
        findings=tuple(_finding_report(finding) for finding in judgement.findings if _is_worth_telling(finding)),
        plan=plan_to_json(item.plan),
        smallest=None if result.smallest is None else plan_to_json(result.smallest.plan),
        run=0 if lived.unreachable is not None else run,
        stalled=stalled(lived),
        truth=_truth(item, fault),
        diagram=diagram_of(result.shown.run) if lived.unreachable is None else (),
        doubled=sum(len(account.executions) > 1 for account in accounts),
        runs=0 if lived.unreachable is not None else runs,
    )


def _verdict(result: Result, *, strict: bool) -> tuple[CellVerdict, str]:
    """The word for it, and why it is UNKNOWN or was not run."""
    judgement = result.judgement.strict() if strict else result.judgement
    match judgement.verdict:
        case None:
            return "not_run", judgement.not_run or ""
        case Verdict.UNKNOWN:
            return "UNKNOWN", judgement.unknowns[0].says
        case Verdict.PASS:
            return "PASS", ""
        case Verdict.FAIL:
            return "FAIL", ""
        case _:
            assert_never(judgement.verdict)


def _truth(item: Item, fault: Fault) -> Literal["executed", "not executed", ""]:
    """What a reader of a decision must know of a sending that met the fault."""
    if item.cell is None or len(item.plan.operations) != 1:
        return ""
    return "executed" if fault.truth.executed else "not executed"


def _attempts(accounts: tuple[Account, ...]) -> int | None:
    """How many sendings there were; None where nobody counted them all."""
    attempts = [attempt for account in accounts for attempt in account.attempts]
    return len(attempts) if all(attempt.exactly_one for attempt in attempts) else None


def _is_worth_telling(finding: Finding) -> bool:
    return finding.verdict is not Verdict.PASS or finding.claim is Claim.TELLS


def _finding_report(finding: Finding) -> FindingReport:
    return FindingReport(
        check=finding.check,
        kind=_KINDS[finding.claim],
        verdict=_WORDS[finding.verdict],
        says=finding.says,
        entries=finding.entries,
    )


_KINDS: dict[Claim, Literal["must", "should", "tells"]] = {
    Claim.MUST: "must",
    Claim.SHOULD: "should",
    Claim.TELLS: "tells",
}
_WORDS: dict[Verdict, OverallVerdict] = {
    Verdict.PASS: "PASS",
    Verdict.UNKNOWN: "UNKNOWN",
    Verdict.FAIL: "FAIL",
}
