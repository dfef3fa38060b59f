"""`retryproof check`: the catalogue and drawn plans against a subject."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.text import Text

from retryproof.cells import print_baseline, print_groups, print_headline, print_histogram, print_unreached
from retryproof.command import EXIT_CODES, Command, file_path
from retryproof.examine import examine_subject, items_for
from retryproof.exits import CommandError, Exit, joined
from retryproof.failures import print_failures
from retryproof.futures import print_futures
from retryproof.github import announce, commands_stopped, could_not_run
from retryproof.given_report import load_given_report
from retryproof.options import ExamineOptions, add_examine_options, examine_options
from retryproof.output import say
from retryproof.revisions import checked_out
from retryproof.sessions import require_subject
from retryproof.terminal import STYLES, console, print_line, sheet
from retryproof.url_options import EPILOG, add_url_options, given_in, say_assumed
from retryproof.writing import Examined
from signoff.annotations import Annotation, annotations_of_report
from signoff.markdown import markdown_of_report
from signoff.report import Report
from suites.stacks.compose_file import stack_name

_EXITS = {"PASS": Exit.PASS, "FAIL": Exit.FAIL, "UNKNOWN": Exit.UNKNOWN}
_BY_DEFAULT = ("reference", "reference-server")
_DESCRIPTION = """\
Examine each SUBJECT: does it retry only what is provably safe, never duplicate
accepted work, never report garbage as success? Without SUBJECT the reference
forwarder is examined, as a library and as a server of futures, each on the
embedded router."""

_EPILOG = f"""\
examples:
  retryproof check                                   reference, reference-server
  retryproof check nginx --depth core                40 cells of nginx
  retryproof check mine.toml --only 'status/503*'    some cells of your own
  retryproof check reference nginx --strict --quiet  in CI: an exit code
  retryproof check mine.toml --baseline report.json  only what fails anew

{EPILOG}

output:
  Each subject gets a folder of its own in --out: report.json, ledger.jsonl
  (what really happened), and plans/*.json, each of which `retryproof replay`
  lives through again. A FAIL prints the command that does it.

{EXIT_CODES}

  Over several subjects: 130, else 1, else 4, else 3, else 0."""

Outcome = Report | CommandError  # of one subject


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "subjects",
        metavar="SUBJECT",
        nargs="*",
        help="a built-in name (`retryproof subjects`), a variant of one such as nginx:retry-non-idempotent, "
        "a TOML file or a variant of one (mine.toml:next), a file as a revision in git has it (HEAD:mine.toml), a "
        "compose file, the URL of something that runs already, or module:callable in Python",
    )
    parser.add_argument(
        "--stack",
        action="append",
        default=[],
        metavar="NAME|compose.yaml",
        help="a SUBJECT that Docker Compose brings up: a stack of compose/ by its name, or a compose file whose labels "
        "say who is the forwarder (docs/stacks.md); again for another",
    )
    parser.add_argument(
        "--baseline",
        type=file_path,
        metavar="REPORT.json",
        help="an earlier report of the SUBJECT: a cell that fails as it did there does not fail this check",
    )
    add_url_options(parser)
    add_examine_options(parser)


def _run(options: argparse.Namespace) -> Exit:
    names: list[str] = [*options.subjects, *map(stack_name, options.stack)] or list(_BY_DEFAULT)
    wanted = examine_options(options, names, given_in(options, names))
    with checked_out(names) as found:
        wanted = replace(wanted, typed=dict(zip(found, names, strict=True)))
        for name in found:
            require_subject(name, wanted.given)
        say_assumed(names, wanted.given)
        if options.baseline is not None:
            wanted = replace(wanted, baseline=_baseline(options.baseline, names))
        with commands_stopped(wanted.github):
            outcomes = _outcomes(found, wanted)
    if wanted.github:
        _announce(outcomes)
    return joined(_exit_of(outcome) for _, outcome in outcomes)


def _outcomes(names: Sequence[str], wanted: ExamineOptions) -> list[tuple[str, Outcome]]:
    """What became of each, printed."""
    terminal = console(quiet=wanted.quiet)
    outcomes: list[tuple[str, Outcome]] = []
    for name in names:
        outcomes.append((wanted.typed[name], _examined(name, wanted, terminal)))
        if _exit_of(outcomes[-1][1]) in (Exit.INTERRUPTED, Exit.USAGE):
            break  # not the subject's affair: the others have nothing to say
    if len(names) > 1 and _exit_of(outcomes[-1][1]) is not Exit.USAGE:  # of which there is nothing to sum up
        _print_summary(terminal, outcomes)
    return outcomes


def _announce(outcomes: list[tuple[str, Outcome]]) -> None:
    """All of them together: what GitHub shows is limited for the whole step."""
    annotations: list[Annotation] = []
    pages: list[bytes] = []
    for name, outcome in outcomes:
        if isinstance(outcome, CommandError):
            annotation, page = could_not_run(outcome, name)
            annotations.append(annotation)
            pages.append(page)
        else:
            annotations += annotations_of_report(outcome)
            pages.append(markdown_of_report(outcome))
    announce(annotations, pages)


def _baseline(path: Path, names: list[str]) -> tuple[Report, str]:
    if len(names) != 1:
        raise CommandError(f"--baseline {str(path)!r} with {len(names)} subjects; expected one SUBJECT", Exit.USAGE)
    return load_given_report("--baseline", path), str(path)


def _examined(name: str, wanted: ExamineOptions, terminal: Console) -> Outcome:
    try:
        examined = examine_subject(name, items_for([name], wanted), wanted, terminal)
    except CommandError as error:
        say(str(error))  # the other subjects are still examined
        return error
    print_examined(terminal, examined)
    return examined.report


def _exit_of(outcome: Outcome) -> Exit:
    return outcome.code if isinstance(outcome, CommandError) else _EXITS[outcome.verdict]


def print_examined(out: Console, examined: Examined) -> None:
    """Verdict first, then what needs a reader, then how much the verdict rests on."""
    report = examined.report
    print_headline(out, report)
    print_baseline(out, report)
    print_groups(out, report)
    print_failures(out, examined)
    print_futures(out, examined)
    print_line(out, "")
    print_unreached(out, report)
    if any(result.run.sockets.elsewhere for result in examined.results):
        print_line(out, "not judged: no-leak: it runs where this machine's kernel cannot count its sockets")
    print_histogram(out, report)
    print_line(out, f"report: {examined.folder.path / 'report.json'}")


def _print_summary(out: Console, outcomes: list[tuple[str, Outcome]]) -> None:
    """One row a subject."""
    numbers = ("passed", "failed", "unknown", "not run", "warnings")
    table = sheet(out, "subject", "verdict", *numbers, right=numbers)
    for name, outcome in outcomes:
        if isinstance(outcome, CommandError):
            table.add_row(Text(name), Text("interrupted" if outcome.code is Exit.INTERRUPTED else "could not run"))
            continue
        counts = [str(outcome.counts[key]) for key in ("PASS", "FAIL", "UNKNOWN", "not_run", "warnings")]
        table.add_row(Text(name), Text(outcome.verdict, STYLES[outcome.verdict]), *counts)
    print_line(out, "")
    out.print(table)


COMMAND = Command(
    name="check",
    description=_DESCRIPTION,
    epilog=_EPILOG,
    options=_options,
    run=_run,
)
