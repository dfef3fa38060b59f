"""The field notes name what exists, and every report says where it is, or why it is nowhere."""

import re
from pathlib import Path

import pytest

from faults.catalogue import fault_named
from suites.checks import CHECKS
from suites.checks.twins import CHECK as TWINS
from suites.futures.offer import Offer
from suites.futures.suite import ids_of_suite
from suites.futures.told import told
from suites.tinker_sdk.scenarios import SCENARIOS
from tests.futures_mutants import MUTANTS as FUTURES_MUTANTS
from tests.mutants.matrix import load_matrix

TEXT = (Path(__file__).parent.parent / "docs" / "field-notes.md").read_text()
ROWS = [line.split(" | ", 1) for line in TEXT.splitlines() if line.startswith("| [")]
REPORTS = 111
_LISTS = re.compile(r"\b(fault|mutant|check|script|scenario)s? ((?:`[^`]+`(?:, | and )?)+)")
NAMED = sorted({(kind, name) for kind, names in _LISTS.findall(TEXT) for name in re.findall("`([^`]+)`", names)})
MUTANTS = {*load_matrix().rows, *FUTURES_MUTANTS}
CHECK_NAMES = {*(check.name for check in (*CHECKS, TWINS)), *ids_of_suite()}
SCRIPTS = told(Offer())
SCENARIO_NAMES = {scenario.name for scenario in SCENARIOS}


def test_every_report_has_a_row() -> None:
    """With a link to where it was reported, and something after it."""
    assert len(ROWS) == REPORTS
    assert all(re.fullmatch(r"\| \[[^]]+\]\(https://\S+\)", title) and len(here) > 10 for title, here in ROWS)


@pytest.mark.parametrize(("kind", "name"), NAMED)
def test_what_a_note_names_exists(kind: str, name: str) -> None:
    """A fault that a plan can name, a mutant, a check, a script that is told, what the SDK is led through."""
    match kind:
        case "fault":
            assert fault_named(name).id == name
        case "mutant":
            assert name in MUTANTS
        case "script":
            assert name in SCRIPTS
        case "scenario":
            assert name in SCENARIO_NAMES
        case _:
            assert name in CHECK_NAMES


def test_the_notes_name_many_of_each_kind() -> None:
    """Else the lists were not found, and nothing was compared."""
    kinds = [kind for kind, _ in NAMED]
    assert kinds.count("fault") > 60
    assert kinds.count("mutant") > 15
    assert kinds.count("check") > 15
    assert kinds.count("script") > 10
    assert kinds.count("scenario") > 4
