"""`retryproof replay` of a script of futures: its steps again on a fresh server, and its timeline."""

import argparse
import json

from rich.console import Console
from rich.text import Text

from retryproof.exits import CommandError, Exit
from retryproof.futures import print_record, print_situations
from retryproof.sessions import Session, require_subject, verdict_exit, with_subject
from retryproof.terminal import print_line
from retryproof.url_options import given_in, say_assumed
from suites.findings import Verdict
from suites.futures.hosts import host_of, powers_over
from suites.futures.judging import invariant_of, judge_record
from suites.futures.record import Record
from suites.futures.script import Script, load_script
from suites.futures.situations import situations_in
from suites.futures.suite import out_of_reach
from suites.futures.theatre import Theatre
from suites.judge import Judgement
from suites.run import Promise

SUBJECT = "reference-server"  # whom a script is replayed on by default


def script_in(text: bytes) -> Script | None:
    """The script in that JSON text; None where it is something else. Raises ScriptError for one that cannot be."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return load_script(text) if isinstance(data, dict) and "steps" in data else None


def replay_script(script: Script, options: argparse.Namespace, out: Console) -> Exit:
    """That many times, each on a fresh server; the worst verdict counts. Raises CommandError."""
    if options.twin is not None:
        raise CommandError("--twin beside a script of futures; expected a plan: a script has no twin", Exit.USAGE)
    name = options.subject or SUBJECT
    given = given_in(options, [name])
    spec = require_subject(name, given)
    if spec.facts.promises is not Promise.FUTURES:
        raise CommandError(
            f"{name} promises {spec.facts.promises}; expected a subject that promises futures, such as {SUBJECT}",
            Exit.USAGE,
        )
    say_assumed([name], given)

    async def work(session: Session) -> list[tuple[Record, Judgement]]:
        subject = session.subject
        if missing := out_of_reach(script, powers_over(subject)):
            raise CommandError(f"the script cannot be lived through on {name}: {missing}", Exit.UNKNOWN)
        async with Theatre(subject.spec, session.driver.routers, host_of(subject)) as theatre:
            records = [await theatre.play(script, fresh=True) for _ in range(options.times)]
        return [(record, judge_record(record)) for record in records]

    replays = with_subject(name, work, given, console=out)
    record, judgement = max(replays, key=lambda pair: pair[1].verdict or Verdict.PASS)
    print_record(out, record)
    print_situations(out, situations_in(record).items())
    for line in _lines(judgement):
        out.print(Text(line))
    if len(replays) > 1:
        words = [one.word for _, one in replays]
        print_line(out, f"{len(replays)} replays: " + ", ".join(f"{words.count(w)} {w}" for w in sorted(set(words))))
    return verdict_exit(one.verdict or Verdict.PASS for _, one in replays)


def _lines(judgement: Judgement) -> list[str]:
    lines = [judgement.word]
    for finding in (*judgement.failures, *judgement.unknowns):
        lines.append(f"{finding.claim} {finding.check}: {finding.verdict.name}: {finding.says}")
        if finding.verdict is Verdict.FAIL:
            lines.append(f"  invariant: {invariant_of(finding.check)}")
    return lines
