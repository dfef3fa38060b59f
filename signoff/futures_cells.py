"""The rows of the futures suite: one for each property, over all scripts that were lived through."""

import json
from typing import Any

from signoff.report import CellReport, CellVerdict, FindingReport
from suites.checks.words import count_of
from suites.findings import Finding, Verdict
from suites.futures.checks import CHECKS
from suites.futures.checks.check import FuturesCheck
from suites.futures.script import dump_script
from suites.futures.suite import Suite

PHASE = "futures"


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
    played = suite.played
    if check.name in played.failing:
        return "FAIL", ""
    if check.name in played.unknown:
        return "UNKNOWN", played.unknown[check.name].finding.says
    missing = _missing(suite, check)
    if missing:
        return ("UNKNOWN", f"not run: {missing}") if strict else ("not_run", missing)
    if not played.judged[check.name]:
        return "UNKNOWN", f"{count_of(played.scripts, 'script')} held nothing that it is about"
    return "PASS", ""


def _missing(suite: Suite, check: FuturesCheck) -> str:
    """Why the property cannot be shown there; empty where it can. What was judged all the same is."""
    powers = suite.powers
    if suite.played.judged[check.name]:
        return ""
    return (check.needs_clock and powers.no_clock) or (check.needs_restart and powers.no_restart) or ""


def _finding(finding: Finding) -> FindingReport:
    verdict: Any = Verdict(finding.verdict).name
    return FindingReport(
        check=finding.check, kind=finding.claim.value, verdict=verdict, says=finding.says, entries=finding.entries
    )
