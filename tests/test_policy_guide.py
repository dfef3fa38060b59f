"""The policy guide covers the catalogue, and each of its rows stands on cells that show what it says."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from faults.catalogue import CATALOGUE
from faults.coverage import Depth
from faults.evidence import NO_CONTRACT, REFERENCE_CONTRACT, Contract
from faults.fault import Fault
from faults.vocabulary import Class, Sight
from suites.cells import all_cells

PAGE = (Path(__file__).parent.parent / "docs" / "policy-guide.md").read_text()
CELLS = {cell.id: cell for cell in all_cells()}
BY_CONTRACT = "SAFE by contract"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One kind of evidence. under: which section it stands in."""

    under: str
    has: str
    may: str
    because: str
    cells: tuple[str, ...]


def _rows() -> list[Row]:
    """Of every table, without its head."""
    found = []
    for section in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]:
        under = section.partition(":")[0]
        for line in re.findall(r"^\| (.+) \|$", section, re.MULTILINE):
            has, may, because, shown = line.split(" | ")
            if cells := tuple(re.findall(r"`([^`]+)`", shown)):
                found.append(Row(under=under, has=has, may=may, because=because, cells=cells))
    return found


ROWS = _rows()


def _kinds(faults: list[Fault], contract: Contract) -> set[tuple[Sight, int | None, Class]]:
    return {(fault.evidence.sight, fault.evidence.status, fault.class_under(contract)) for fault in faults}


def _shown(under: str) -> list[Fault]:
    return [CELLS[id_].fault for row in ROWS if row.under == under for id_ in row.cells if id_ in CELLS]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.has)
def test_a_row_stands_on_cells_of_its_class_and_on_the_rfc(row: Row) -> None:
    """All of which `retryproof check` lives through by default."""
    assert [id_ for id_ in row.cells if id_ not in CELLS] == []
    assert [id_ for id_ in row.cells if not Depth.FULL.holds(CELLS[id_].depth)] == []
    classes = {CELLS[id_].fault.class_under() for id_ in row.cells}
    by_contract = {CELLS[id_].fault.class_under(REFERENCE_CONTRACT) for id_ in row.cells}
    if row.under == BY_CONTRACT:
        assert (classes, by_contract) == ({Class.AMBIGUOUS}, {Class.SAFE})
    else:
        assert (classes, by_contract) == ({Class(row.under)}, {Class(row.under)})
    assert re.search(r"RFC \d{4} s\d", row.because)


@pytest.mark.parametrize("class_", list(Class))
def test_every_kind_of_evidence_in_the_catalogue_has_its_row(class_: Class) -> None:
    """A kind is what is seen, its status, and what that proves; and there is no row for another."""
    faults = [fault for fault in CATALOGUE.values() if fault.class_under() is class_]
    shown = _shown(class_) + (_shown(BY_CONTRACT) if class_ is Class.AMBIGUOUS else [])
    assert _kinds(shown, NO_CONTRACT) == _kinds(faults, NO_CONTRACT)


def test_every_kind_of_evidence_that_a_contract_makes_safe_has_its_row() -> None:
    made_safe = [
        fault for fault in CATALOGUE.values() if fault.class_under() is not fault.class_under(REFERENCE_CONTRACT)
    ]
    assert _kinds(_shown(BY_CONTRACT), REFERENCE_CONTRACT) == _kinds(made_safe, REFERENCE_CONTRACT)


def test_who_gives_up_on_ambiguous_evidence_is_told_so_in_each_row() -> None:
    """No row of that section lets a forwarder send again, and each of the first one lets it, or wait."""
    ambiguous = [row for row in ROWS if row.under == Class.AMBIGUOUS]
    assert all(row.may.startswith("give up") for row in ambiguous)
    assert all("again" not in row.may for row in ROWS if row.under == Class.FINAL)


@pytest.mark.parametrize("sight", list(Sight))
def test_every_sight_is_shown(sight: Sight) -> None:
    """By the cell of some row."""
    assert any(fault.evidence.sight is sight for row in ROWS for fault in _shown(row.under))
