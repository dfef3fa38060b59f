"""The committed kill matrix, as data."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from tests.mutants.living import How, Kill

PATH = Path(__file__).parents[1] / "kill_matrix.toml"


class Declared(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One entry: in how many cells, and why it is there though it is not the target."""

    cells: int
    why: str = ""


class _Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    target: str
    FAIL: dict[str, Declared] = {}
    UNKNOWN: dict[str, Declared] = {}
    TOLD: dict[str, Declared] = {}


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    schema: int
    cells: tuple[str, ...]
    unbroken: tuple[str, ...]
    mutants: dict[str, _Row]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What must kill one mutant, and nothing else may."""

    target: str
    kills: Mapping[Kill, Declared]


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """All rows, by mutant; and the cells that every mutant lives through."""

    cells: tuple[str, ...]
    unbroken: tuple[str, ...]
    rows: Mapping[str, Row]


def load_matrix() -> Matrix:
    """Raises msgspec.ValidationError for a file that does not fit."""
    file = msgspec.convert(tomllib.loads(PATH.read_text("utf-8")), _File)
    rows = {}
    for name, row in file.mutants.items():
        by_how = {How.FAIL: row.FAIL, How.UNKNOWN: row.UNKNOWN, How.TOLD: row.TOLD}
        kills = {Kill(how, check): entry for how, entries in by_how.items() for check, entry in entries.items()}
        rows[name] = Row(target=row.target, kills=kills)
    return Matrix(cells=file.cells, unbroken=file.unbroken, rows=rows)
