"""`retryproof report`: every face of a check or of a sign-off again, from what its folder holds."""

import argparse
from pathlib import Path

from retryproof.cells import print_baseline, print_groups, print_headline, print_histogram, print_unreached
from retryproof.command import EXIT_CODES, Command, folder_path
from retryproof.exits import CommandError, Exit
from retryproof.faces import FACES
from retryproof.folder import write_whole
from retryproof.given_report import held
from retryproof.sign_off_folder import FACES as SIGN_OFF_FACES
from retryproof.sign_off_folder import FILE, REPORT, SIDES
from retryproof.sign_off_page import print_sign_off
from retryproof.terminal import console, print_line
from signoff.report import Report, load_report
from signoff.sign_off import load_sign_off

_DESCRIPTION = """\
Draw every face of a check or of a sign-off again from what its folder holds:
report.html, report.md, junit.xml, and what a terminal shows. Nothing is run,
and nothing is judged again."""

_EPILOG = f"""\
examples:
  retryproof report retryproof-out/20260131T120000.000000Z-nginx
  retryproof report FOLDER --quiet        only the files

The exit code is 0 once the faces are drawn, whatever verdict they show;
`retryproof signoff --base FOLDER/report.json` compares, and judges.

{EXIT_CODES}"""

_EXPECTED = "what `retryproof check` or `signoff` wrote"


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", metavar="FOLDER", type=folder_path, help="of one check or sign-off, as they write them into --out"
    )
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")


def _run(options: argparse.Namespace) -> Exit:
    folder: Path = options.folder
    out = console(quiet=options.quiet)
    if _is_there(folder / FILE):
        sign_off = held(folder / FILE, load_sign_off, "", _EXPECTED)
        sides = [folder / side for side in SIDES if _is_there(folder / side / REPORT)]
        reports = [
            (side, held(side / REPORT, load_report, "", _EXPECTED)) for side in sides
        ]  # all are read before one is written
        drawn = [folder / name for name, _ in SIGN_OFF_FACES]
        for name, draw in SIGN_OFF_FACES:
            write_whole(folder / name, draw(sign_off))
        for side, report in reports:
            drawn += _draw(side, report)
        print_sign_off(out, sign_off)
    elif _is_there(folder / REPORT):
        report = held(folder / REPORT, load_report, "", _EXPECTED)
        drawn = _draw(folder, report)
        _print_report(report, options)
    else:
        raise CommandError(f"{str(folder)!r} {_what_it_is(folder)}", Exit.USAGE)
    for path in drawn:
        print_line(out, f"drawn: {path}")
    return Exit.PASS


def _print_report(report: Report, options: argparse.Namespace) -> None:
    out = console(quiet=options.quiet)
    print_headline(out, report)
    print_baseline(out, report)
    print_groups(out, report)
    print_line(out, "")
    print_unreached(out, report)
    print_histogram(out, report)


def _draw(folder: Path, report: Report) -> list[Path]:
    for name, draw in FACES:
        write_whole(folder / name, draw(report))
    return [folder / name for name, _ in FACES]


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False


def _what_it_is(folder: Path) -> str:
    """Why nothing can be drawn from it, and what would do."""
    expected = f"expected the folder of a check ({REPORT}) or of a sign-off ({FILE})"
    try:
        if not folder.is_dir():
            return f"is {'a file' if folder.exists() else 'not there'}; {expected}"
        runs = [one for one in sorted(folder.iterdir()) if any(_is_there(one / name) for name in (FILE, REPORT))]
    except OSError as error:
        return f"cannot be read: {error.strerror}; {expected}"
    return f"holds no report; {expected}{f', such as {str(runs[-1])!r} in it' if runs else ''}"


COMMAND = Command(
    name="report",
    description=_DESCRIPTION,
    epilog=_EPILOG,
    options=_options,
    run=_run,
)
