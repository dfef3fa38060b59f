"""How a FAIL is shown: the invariant, what the run showed, the timeline of both sides, and how to replay it."""

from rich.console import Console
from rich.markup import escape

from retryproof.examine import Examined
from retryproof.terminal import timeline_table
from signoff.examination import Result
from signoff.timeline import timeline
from suites.findings import Claim, Finding, Verdict
from suites.judge import invariant_of

SHOWN_WHOLE = 3  # with their timelines; more are listed in the table above, each with its plan


def print_failures(out: Console, examined: Examined) -> None:
    """The first failures whole, and one replay line for each of the others."""
    failed = [result for result in examined.results if result.judgement.verdict is Verdict.FAIL]
    for result in failed[:SHOWN_WHOLE]:
        _print_failure(out, examined, result)
    for result in failed[SHOWN_WHOLE:]:
        out.print(f"FAIL {result.item.id}: {_replay_command(examined, result)}", soft_wrap=True)


def _print_failure(out: Console, examined: Examined, result: Result) -> None:
    out.rule(f"[bold red]FAIL[/] {escape(result.item.id)}", align="left")
    for finding in broken_musts(result):
        out.print(f"invariant: {escape(invariant_of(finding.check))} ({finding.check})")
        entries = ", ".join(map(str, finding.entries))
        out.print(f"showed:    {escape(finding.says)}" + (f" (entries {entries})" if entries else ""))
    out.print(timeline_table(timeline(result.run)))
    out.print(f"replay:    {_replay_command(examined, result)}", soft_wrap=True)


def broken_musts(result: Result) -> list[Finding]:
    """What makes it a FAIL."""
    return [
        finding
        for finding in result.judgement.findings
        if finding.claim is Claim.MUST and finding.verdict is Verdict.FAIL
    ]


def _replay_command(examined: Examined, result: Result) -> str:
    return f"retryproof replay {examined.folder.plan_path(result.item.id)} --subject {examined.name}"
