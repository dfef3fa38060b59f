"""The rows of the futures suite: one for each property, over all scripts that were lived through."""

import json
from typing import Any

from signoff.cell_words import FUTURES
from signoff.report import CellReport, CellVerdict, FindingReport
from suites.findings import Finding, Verdict
from suites.futures.checks import CHECKS
from suites.futures.checks.check import FuturesCheck
from suites.futures.script import dump_script
from suites.futures.suite import Suite
from suites.futures.verdicts import verdict_on

PHASE = FUTURES


def futures_cells(suite: Suite, *, strict: bool) -> tuple[CellReport, ...]:
    """A property that no script has exercised is UNKNOWN; one that cannot be is not_run, with the reason."""
    return tuple(_cell(suite, check, strict=strict) for check in CHECKS)


def _cell(suite: Suite, check: FuturesCheck, *, strict: bool) -> CellReport:
    played = suite.played
    verdict, reason = _verdict(suite, check, strict=strict)
    shown = played.failing.get(check.name) or played.unknown.get(check.name)
    return CellReport(
        id=f"{PHASE}/{check.name}",
        fault="",
        phase=PHASE,
        evidence="",
        class_="-",
        dimensions={"scripts": played.scripts, "judged": played.judged[check.name], "steps": played.steps.total()},
        attempts=None,
        accepted=0,
        executions=0,
        replied=0,
        outcome="",
        status=None,
        delay_ms=0.0,
        verdict=verdict,
        reason=reason,
        runs=played.scripts,
        findings=() if shown is None else (_finding(shown.finding),),
        plan={PHASE: {"examples": suite.examples, "seed": suite.seed}},
        smallest=None if shown is None else _script(dump_script(shown.script)),
    )


def _script(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text)
    return found


def _verdict(suite: Suite, check: FuturesCheck, *, strict: bool) -> tuple[CellVerdict, str]:
    match verdict_on(suite, check):
        case None, reason:
            return ("UNKNOWN", f"not run: {reason}") if strict else ("not_run", reason)
        case Verdict.PASS, reason:
            return "PASS", reason
        case Verdict.FAIL, reason:
            return "FAIL", reason
        case _, reason:
            return "UNKNOWN", reason


def _finding(finding: Finding) -> FindingReport:
    verdict: Any = Verdict(finding.verdict).name
    return FindingReport(
        check=finding.check, kind=finding.claim.value, verdict=verdict, says=finding.says, entries=finding.entries
    )
