"""From a finished run to its verdict. A pure function: it opens nothing, starts nothing, and never raises for what
a run holds.
"""

from dataclasses import dataclass, replace

from suites.checks import CHECKS
from suites.checks.check import Check
from suites.checks.twins import CHECK as TWINS
from suites.checks.twins import twins
from suites.findings import REACH, Claim, Finding, Proof, Verdict, worst
from suites.run import Run

NOT_RUN = "not_run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What all checks say of one run. Either there is a verdict, or `not_run` says why there is none.

    Raises ValueError for both or neither.
    """

    verdict: Verdict | None
    not_run: str | None = None
    findings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        if (self.verdict is None) == (self.not_run is None):
            raise ValueError(f"verdict {self.verdict!r} with not_run {self.not_run!r}; expected exactly one of them")

    @property
    def word(self) -> str:
        """PASS, UNKNOWN, FAIL or not_run, as reports say it."""
        return NOT_RUN if self.verdict is None else self.verdict.name

    @property
    def failures(self) -> tuple[Finding, ...]:
        """The musts that are broken."""
        return tuple(f for f in self.findings if f.claim is Claim.MUST and f.verdict is Verdict.FAIL)

    @property
    def unknowns(self) -> tuple[Finding, ...]:
        """The musts that the run does not show."""
        return tuple(f for f in self.findings if f.claim is Claim.MUST and f.verdict is Verdict.UNKNOWN)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The shoulds that are broken: they change no verdict."""
        return tuple(f for f in self.findings if f.claim is Claim.SHOULD and f.verdict is Verdict.FAIL)

    def strict(self) -> "Judgement":
        """The same, except that what was not run counts as not proved."""
        if self.not_run is None:
            return self
        return judgement_of((*self.findings, _unknown(REACH, f"not run: {self.not_run}")))


def judge(run: Run) -> Judgement:
    """The verdict of every check on that run; what could not be reached is listed, never judged."""
    if run.unreachable is not None:
        return Judgement(verdict=None, not_run=run.unreachable)
    return judgement_of(tuple(finding for check in CHECKS for finding in findings_of(check, run)))


def judgement_of(findings: tuple[Finding, ...]) -> Judgement:
    """The verdict that these findings amount to; without one must among them, nothing was judged."""
    if not any(finding.claim is Claim.MUST for finding in findings):
        findings = (*findings, _unknown("judged", "no check found anything to judge"))
    return Judgement(verdict=worst(findings), findings=findings)


def not_shown(reason: str) -> Judgement:
    """Nothing was shown of that plan, and nothing is claimed of it."""
    return judgement_of((_unknown("lived-through", reason),))


def findings_of(check: Check, run: Run) -> list[Finding]:
    """What that check says. A check that crashes has shown nothing: neither PASS nor FAIL."""
    try:
        return check.judge(run)
    except Exception as error:  # noqa: BLE001  # whatever a check raises, the other checks still have their say
        return [_unknown(check.name, f"the check crashed: {error!r}")]


def judge_twins(a: Run, b: Run) -> list[Finding]:
    """Whether two runs that differ in a fault and its twin alone got the same decision and the same outcome.

    Nothing where a side proves nothing. Raises ValueError for runs whose plans differ in shape.
    """
    return twins(a, b)


def held_against(a: Run, b: Run) -> list[Finding]:
    """judge_twins, where a crash of the comparison has shown nothing."""
    try:
        return judge_twins(a, b)
    except Exception as error:  # noqa: BLE001  # like every other check's
        return [_unknown("twins", f"the check crashed: {error!r}")]


def confirm(finding: Finding, alone: Judgement) -> Finding:
    """What becomes of a finding once its plan was lived through again, alone, on a fresh subject.

    A failure that rests on cause or timing must come back; else both records are shown and it is UNKNOWN. What
    the ledger proves stays, wherever it was seen.
    """
    if finding.verdict is not Verdict.FAIL or finding.proof is Proof.LEDGER or came_back(finding, alone):
        return finding
    record = alone.not_run or "; ".join(one.says for one in _same(finding, alone)) or f"{finding.check} judged nothing"
    what = "nothing was shown of it" if says_nothing_of(finding, alone) else "it did not come back"
    return replace(finding, verdict=Verdict.UNKNOWN, says=f"at first: {finding.says}; alone {what}: {record}")


def came_back(finding: Finding, alone: Judgement) -> bool:
    """The same check fails alone, too."""
    return any(one.verdict is Verdict.FAIL for one in _same(finding, alone))


def says_nothing_of(finding: Finding, alone: Judgement) -> bool:
    """Alone the same check neither fails nor passes: it judged nothing, or what it needs did not happen."""
    return not any(one.verdict in (Verdict.FAIL, Verdict.PASS) for one in _same(finding, alone))


def _same(finding: Finding, alone: Judgement) -> list[Finding]:
    return [one for one in alone.findings if one.check == finding.check]


def _unknown(check: str, says: str) -> Finding:
    return Finding(check=check, claim=Claim.MUST, verdict=Verdict.UNKNOWN, says=says, proof=Proof.CAUSE)


def invariant_of(check: str) -> str:
    """The sentence that a report shows for that check; empty for a finding of the judge itself."""
    return next((one.invariant for one in (*CHECKS, TWINS) if one.name == check), "")
