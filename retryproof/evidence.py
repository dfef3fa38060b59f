"""`retryproof evidence`: what bare clients see of every fault."""

import argparse
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from rich.console import Console
from rich.text import Text

from faults.catalogue import uncatalogued
from retryproof.command import Command, file_path, folder_path
from retryproof.exits import CommandError, Exit
from retryproof.options import add_own_network, enter_own_network
from retryproof.output import say
from retryproof.terminal import console, print_labelled, print_line, progress, sheet
from signoff.evidence_findings import findings_of
from signoff.evidence_page import page_of
from signoff.evidence_words import CANNOT, cannot_of, cells_of, ways_of
from suites.evidence.cases import Case, all_cases
from suites.evidence.clients import CLIENTS
from suites.evidence.matrix import JSON_NAME, PAGE_NAME, Matrix, MatrixError, Row, dump_matrix, load_matrix, merged
from suites.evidence.observing import Pair, installed_clients, observed, pairs_of, python_version
from suites.reach import Machine

WAYS = ("first", "reused", "TLS", "16 MiB", "GET")
_DESCRIPTION = """\
Run every fault of the catalogue against bare HTTP clients, and show what each
of them can see: an exception, or a status and its bytes; how often it really
sent the request, and how often the work ran. No subject is judged: these are
the facts from which retry policies are made."""

_EPILOG = f"""\
clients: {", ".join(CLIENTS)}

examples:
  retryproof evidence                                everything
  retryproof evidence --client httpx --only 'body*'  some faults, one client
  retryproof evidence --write docs --own-network     the committed matrix again

exit codes:
  0    observed
  2    wrong usage: no such client, no fault matches
  3    an observation proved nothing: a fault did not strike, or the same
       fault showed different things; the others are printed
  4    a client is not installed, or a file could not be written; what could
       be observed is printed
  130  interrupted; what was observed so far is printed and written"""


def _options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--client", metavar="NAME", action="append", help="only this client; may be repeated")
    add("--only", metavar="GLOB", help="only faults whose id matches, e.g. 'body-*'")
    add("--json", type=file_path, metavar="FILE", help="write the data there")
    add("--out", type=folder_path, metavar="DIR", help=f"write {JSON_NAME} and {PAGE_NAME} into that folder")
    add(
        "--write",
        type=folder_path,
        metavar="DIR",
        help="the same for the whole matrix, all of it or nothing; of what varies by chance, what the folder's data "
        "has already seen is kept",
    )
    add_own_network(parser)


def _run(options: argparse.Namespace) -> Exit:
    enter_own_network(options)
    names: list[str] = sorted(set(options.client or CLIENTS))
    cases = _cases(names, options.only)
    if options.write is not None and (options.client or options.only):
        raise CommandError(
            f"--write {str(options.write)!r} beside --client or --only; expected the whole matrix", Exit.USAGE
        )
    _require_places(options)
    cases, lacking = _possible(cases)
    clients, versions, missing = installed_clients(names)
    for message in (*lacking, *missing):
        say(message)
    out = console()
    rows, failed, interrupted = _observe(out, pairs_of(clients, cases))
    for message in failed:
        say(message)
    matrix = Matrix(python=python_version(), clients=versions, rows=tuple(rows))
    _print(out, matrix)
    code = Exit.COULD_NOT_RUN if lacking or missing else Exit.UNKNOWN if failed else Exit.PASS
    code = Exit.INTERRUPTED if interrupted else code
    _write(options, matrix, whole=code is Exit.PASS)
    return code


def _require_places(options: argparse.Namespace) -> None:
    """What cannot be written is said before minutes are spent on it. Raises CommandError."""
    for path, is_folder in ((options.json, False), (options.out, True), (options.write, True)):
        if path is not None and path.exists() and path.is_dir() is not is_folder:
            expected = "a folder, or the name of a new one" if is_folder else "the name of a file"
            raise CommandError(f"cannot write {str(path)!r}; expected {expected}", Exit.COULD_NOT_RUN)


def _observe(out: Console, pairs: Sequence[Pair]) -> tuple[list[Row], list[str], bool]:
    """The rows, why others are missing, and whether it was interrupted."""
    rows: list[Row] = []
    failed: list[str] = []
    try:
        with progress(out, "observing", len(pairs)) as tick:
            for row in observed(pairs, tick):
                failed.append(row) if isinstance(row, str) else rows.append(row)
    except KeyboardInterrupt:
        say(f"interrupted; {len(rows)} of {len(pairs)} rows were observed")
        return rows, failed, True
    return rows, failed, False


def _cases(names: Sequence[str], only: str | None) -> list[Case]:
    unknown = [name for name in names if name not in CLIENTS]
    if unknown:
        raise CommandError(f"client {unknown[0]!r}; expected one of {', '.join(CLIENTS)}", Exit.USAGE)
    cases = [case for case in all_cases() if only is None or fnmatchcase(case.fault.id, only)]
    if not cases:
        why = uncatalogued(only or "") or "`retryproof faults` lists them"
        raise CommandError(f"--only {only!r} matches no fault; {why}", Exit.USAGE)
    return cases


def _possible(cases: list[Case]) -> tuple[list[Case], list[str]]:
    """Those that this machine can do as it is, and what the others lack."""
    machine = Machine.here()
    possible: list[Case] = []
    lacking: dict[str, list[str]] = {}
    for case in cases:
        reason = machine.lacks_for(case.fault.act)
        if reason is None:
            possible.append(case)
        elif case.fault.id not in lacking.setdefault(reason, []):
            lacking[reason].append(case.fault.id)
    return possible, [f"{', '.join(faults)}: not observed here: {reason}" for reason, faults in lacking.items()]


def _print(out: Console, matrix: Matrix) -> None:
    table = sheet(out, "fault", "client", *WAYS, fold=WAYS)
    for (fault, client), ways in ways_of(matrix.rows).items():
        table.add_row(fault, client, *map(Text, cells_of(ways)))
    out.print(table)
    print_line(out, "")
    print_line(out, "[2/1]: sent twice, ran once, by the router's ledger")
    for why, clients, faults in cannot_of(matrix.rows):
        print_line(out, f"{CANNOT}: {', '.join(clients)} with {', '.join(faults)}: {why}")
    for finding in findings_of(matrix):
        print_line(out, "")
        print_line(out, Text.assemble((finding.title, "bold"), f": {finding.says}"))
        print_labelled(out, *((f"  {client}", ", ".join(names)) for client, names in finding.by_client.items()))


def _write(options: argparse.Namespace, matrix: Matrix, *, whole: bool) -> None:
    if options.json is not None:
        _write_file(options.json, dump_matrix(matrix))
    if options.out is not None:
        _write_both(options.out, matrix)
    if options.write is not None:
        if not whole:
            say(f"{str(options.write)!r} is left as it was: the matrix is not whole")
            return
        _write_both(options.write, merged(matrix, _before(options.write / JSON_NAME)))


def _before(path: Path) -> Matrix | None:
    try:
        return load_matrix(path.read_bytes())
    except (FileNotFoundError, MatrixError):
        return None


def _write_both(folder: Path, matrix: Matrix) -> None:
    _write_file(folder / JSON_NAME, dump_matrix(matrix))
    _write_file(folder / PAGE_NAME, page_of(matrix).encode())


def _write_file(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise CommandError(f"cannot write {str(path)!r}: {error.strerror}", Exit.COULD_NOT_RUN) from None


COMMAND = Command(name="evidence", description=_DESCRIPTION, epilog=_EPILOG, options=_options, run=_run)
