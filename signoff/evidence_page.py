"""The evidence matrix as a page: what it teaches first, then every row."""

from collections.abc import Iterator

from faults.catalogue import CATALOGUE
from faults.evidence import REFERENCE_CONTRACT
from signoff.evidence_findings import Finding, findings_of
from signoff.evidence_words import CANNOT, cannot_of, cells_of, ways_of
from suites.evidence.matrix import JSON_NAME, Matrix
from suites.printable import printable

MAX_FAULTS = 12  # named in one cell of what the matrix teaches; the rest is below
_REFERENCE = "reference"
_HEAD = """\
# What each client can see

Every fault of the catalogue against bare HTTP clients, each used plainly: one POST, small time-outs, everything else as
it comes. Written by `retryproof evidence --write docs --own-network`; the data is [{json}]({json}). {versions}.

`[2/1]` means: by the router's ledger the client sent the operation twice and it ran once. An error is named by the
class that was raised, then `<` its first cause where that is another, then the errno. `next:` is what the next, healthy
operation on the same client got, where that was not its own result. Of a stream the events are counted that came; with
`Expect: 100-continue` the body waits for the 100; where it waits for its pool, another operation holds the only
connection. The reference's word is the kind in its own table
of guesses.
"""


def page_of(matrix: Matrix) -> str:
    """Markdown; the same for the same matrix."""
    pairs = ", ".join(f"{name} {version}" for name, version in sorted(matrix.clients.items()) if name != _REFERENCE)
    parts = [_HEAD.format(json=JSON_NAME, versions=f"Python {matrix.python}, {pairs}"), "## What it teaches", ""]
    for finding in findings_of(matrix):
        parts += _finding(finding)
    parts += _varying(matrix)
    parts += _cannot(matrix)
    parts += _rows(matrix)
    return printable("\n".join(parts)) + "\n"


def _finding(finding: Finding) -> list[str]:
    lines = [f"**{finding.title}.** {finding.says}", "", "| client | with |", "|---|---|"]
    for client, names in finding.by_client.items():
        more = f" and {len(names) - MAX_FAULTS} more" if len(names) > MAX_FAULTS else ""
        lines.append(f"| {client} | {', '.join(f'`{name}`' for name in names[:MAX_FAULTS])}{more} |")
    return [*lines, ""]


def _varying(matrix: Matrix) -> list[str]:
    reasons: dict[str, list[str]] = {}
    for row in matrix.rows:
        if row.varies and row.fault not in reasons.setdefault(row.varies, []):
            reasons[row.varies].append(row.fault)
    return [
        line
        for why, faults in sorted(reasons.items())
        for line in (f"**What varies.** {', '.join(f'`{fault}`' for fault in sorted(faults))}: {why}.", "")
    ]


def _cannot(matrix: Matrix) -> Iterator[str]:
    for why, clients, faults in cannot_of(matrix.rows):
        names = ", ".join(f"`{name}`" for name in faults)
        yield from (f"**What says `{CANNOT}`.** {', '.join(clients)} with {names}: {why}.", "")


def _rows(matrix: Matrix) -> Iterator[str]:
    phase = None
    for (id_, client), ways in ways_of(matrix.rows).items():
        fault = CATALOGUE[id_]
        if fault.phase is not phase:
            phase = fault.phase
            yield from ("", f"## Phase {phase}", "")
            yield "| fault | class | client | first connection | reused | TLS | 16 MiB | GET |"
            yield "|---|---|---|---|---|---|---|---|"
        cells = cells_of(ways)
        # The reference holds the contract of the router, the others know none.
        class_ = fault.class_under(REFERENCE_CONTRACT) if client == _REFERENCE else fault.class_under()
        yield f"| `{id_}` | {class_} | {client} | {' | '.join(cells)} |"
