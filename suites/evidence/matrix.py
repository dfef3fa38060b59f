"""The matrix as data: which client saw what of which fault, as JSON that is the same for the same facts."""

from collections.abc import Iterable
from typing import Any

import msgspec

from suites.evidence.cases import How
from suites.evidence.scene import Seen
from suites.printable import printable_json

SCHEMA = 1
JSON_NAME = "evidence.json"
PAGE_NAME = "evidence.md"


class Row(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One fault, met in one way by one client. seen: every different observation, in order; more than one only where
    `varies` says why, and none where `cannot` says why that client cannot be asked for it.
    """

    fault: str
    client: str
    how: How
    seen: tuple[Seen, ...]
    varies: str = ""
    cannot: str = ""


class Matrix(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All rows, with the versions that they are facts about."""

    schema: int = SCHEMA
    python: str
    clients: dict[str, str]
    rows: tuple[Row, ...]

    def row(self, fault: str, client: str, how: How) -> Row | None:
        """That row, if there is one."""
        return next((row for row in self.rows if (row.fault, row.client, row.how) == (fault, client, how)), None)


class MatrixError(ValueError):
    """A text that is no matrix of this schema; the message says what is wrong."""


def distinct(seen: Iterable[Seen]) -> tuple[Seen, ...]:
    """Each once, in an order of their own."""
    return tuple(sorted(set(seen), key=msgspec.json.encode))


def in_order(rows: Iterable[Row]) -> tuple[Row, ...]:
    """By fault, client, and way, so that a fault that is added moves no other row."""
    hows = list(How)
    return tuple(sorted(rows, key=lambda row: (row.fault, row.client, hows.index(row.how))))


def merged(new: Matrix, old: Matrix | None) -> Matrix:
    """The new one; what varies by chance keeps what was seen of it before, of the same version of its client. Chance
    does not show everything in one run.
    """
    if old is None:
        return new
    before = {(row.fault, row.client, row.how): row for row in old.rows if row.varies}
    rows = []
    for row in new.rows:
        known = before.get((row.fault, row.client, row.how))
        if known is not None and row.varies and new.clients[row.client] == old.clients.get(row.client):
            row = msgspec.structs.replace(row, seen=distinct((*row.seen, *known.seen)))
        rows.append(row)
    return msgspec.structs.replace(new, rows=tuple(rows))


def dump_matrix(matrix: Matrix) -> bytes:
    """JSON, one row a line, so that a change of one fact is a change of one line."""
    encode = msgspec.json.encode
    head: dict[str, Any] = {"schema": matrix.schema, "python": matrix.python, "clients": matrix.clients}
    rows = b",\n".join(encode(row) for row in in_order(matrix.rows))
    return encode(head, order="sorted").removesuffix(b"}") + b',"rows":[\n' + printable_json(rows) + b"\n]}\n"


def load_matrix(data: bytes) -> Matrix:
    """Raises MatrixError."""
    try:
        matrix = msgspec.json.decode(data, type=Matrix)
    except msgspec.MsgspecError as error:
        raise MatrixError(f"no evidence matrix of schema {SCHEMA}: {error}") from None
    if matrix.schema != SCHEMA:
        raise MatrixError(f"schema is {matrix.schema!r}; this version reads {SCHEMA}")
    return matrix
