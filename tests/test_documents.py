"""The documents say what the code does: commands, keys, entries and files are held against it."""

import re
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from fake_router.entries import AnyEntry, EndedBy, Witness
from faults.catalogue import CATALOGUE, DISTURBANCES, POISONS
from faults.plan import Plan, PlannedListener, PlannedOperation
from faults.vocabulary import Class, Replied
from signoff import sign_off
from signoff.published import Published, PublishedCell
from signoff.report import CellReport, Report
from suites.subject_keys import KEYS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def _tables_of(name: str) -> set[str]:
    """The words in backquotes in the first column of the tables of a document."""
    rows = re.findall(r"^\| ([^|]+) \|", (ROOT / "docs" / name).read_text(), re.MULTILINE)
    return {word for row in rows for word in re.findall(r"`([^`]+)`", row)}


def test_ci_runs_the_test_command_of_the_readme() -> None:
    """What a reader is told to run is what CI runs."""
    commands = re.findall(r"```sh\n(.+)\n```", README)
    assert len(commands) == 2
    assert commands[1] in (ROOT / ".ci" / "run").read_text().splitlines()


def test_both_commands_of_the_readme_are_one_line_with_an_environment_of_their_own() -> None:
    """A fresh machine with Python needs nothing else."""
    commands = re.findall(r"```sh\n(.+)\n```", README)
    assert all(re.match(r"python3 -m venv (\S+) && \1/bin/pip install ", command) for command in commands)


def test_every_key_of_a_plan_is_documented() -> None:
    """And nothing is documented that is no key."""
    keys = {field.name for kind in (Plan, PlannedOperation, PlannedListener) for field in fields(kind)}
    assert _tables_of("plans.md") == keys


def test_every_kind_of_entry_and_every_witness_is_documented() -> None:
    """The ledger's document names all there are."""
    text = (ROOT / "docs" / "ledger.md").read_text()
    kinds = {kind.__name__ for kind in get_args(AnyEntry)}
    assert kinds <= _tables_of("ledger.md")
    assert all(f"`{word}`" in text for word in (*Witness, *EndedBy))


def test_the_table_of_acceptance_has_every_combination_of_facts_that_a_fault_means() -> None:
    """And no other: what was received, accepted and executed, and whether anything was replied."""
    rows = re.findall(r"^\| .+ \| (no exchange|(?:yes|no) / .+) \|$", (ROOT / "docs" / "ledger.md").read_text(), re.M)
    documented = set()
    for row in rows:
        *facts, replied = row.replace("no exchange", "no / no / no / 0").split(" / ")
        documented |= {(*facts, part == "0") for part in replied.split(", or ")}
    truths = [fault.truth for fault in CATALOGUE.values()]
    words = {True: "yes", False: "no"}
    assert documented == {
        (words[truth.received], words[truth.accepted], words[truth.executed], truth.replied is Replied.NOTHING)
        for truth in truths
    }


def test_every_failure_point_of_the_catalogue_is_documented() -> None:
    """And no other is."""
    assert _tables_of("failure-points.md") == {
        row for fault in (*CATALOGUE.values(), *POISONS.values(), *DISTURBANCES.values()) for row in fault.rows
    } - {"-"}


def test_every_ambiguous_fault_without_a_twin_is_an_exception_in_the_rules() -> None:
    """Rule 3 names each of them, and no fault that has one among its exceptions."""
    rule = (ROOT / "docs" / "rules.md").read_text().partition("**Twins.**")[2].partition("\n4. ")[0]
    named = set(re.findall(r"`([^`]+)`", rule.partition("Exceptions:")[2].partition("The same 503")[0]))
    ambiguous = [fault for fault in CATALOGUE.values() if fault.class_under() is Class.AMBIGUOUS]
    assert named == {fault.id for fault in ambiguous if fault.twin is None}


def test_every_key_of_a_report_is_documented() -> None:
    """By its name in the JSON."""
    keys = {name for kind in (Report, CellReport) for name in kind.__struct_encode_fields__}
    assert _tables_of("report.md") >= keys


def test_every_key_of_a_published_result_is_documented() -> None:
    """By its name in the JSON."""
    keys = {name for kind in (Published, PublishedCell) for name in kind.__struct_encode_fields__}
    text = (ROOT / "docs" / "survey.md").read_text().partition("## results/")[2]
    assert {key for key in keys if f"`{key}`" not in text} == set()


def test_every_key_of_a_sign_off_is_documented() -> None:
    """By its name in the JSON, whatever holds it."""
    named = [kind for kind in vars(sign_off).values() if isinstance(kind, type) and issubclass(kind, msgspec.Struct)]
    kinds = [kind for kind in named if kind.__module__ == sign_off.__name__]
    keys = {name for kind in kinds for name in kind.__struct_encode_fields__}
    text = (ROOT / "docs" / "signoff.md").read_text().partition("## signoff.json")[2]
    assert {key for key in keys if f"`{key}`" not in text} == set()
    assert len(kinds) > 10


def test_every_key_of_a_subject_file_is_documented() -> None:
    """Needed or not."""
    text = (ROOT / "docs" / "subjects.md").read_text()
    assert [key for key in KEYS if f"`{key}`" not in text and f"`[{key}]" not in text] == []


def test_every_file_of_the_packages_is_on_the_map() -> None:
    """docs/architecture.md names each module."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    packages = ("faults", "fake_router", "forwarder", "suites", "signoff")
    files = [path for package in packages for path in (ROOT / package).glob("*.py") if path.name != "__init__.py"]
    assert [f"{path.parent.name}/{path.name}" for path in files if path.name not in text] == []


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([^)#]+)\)", README))))
def test_every_link_of_the_readme_leads_somewhere(link: str) -> None:
    """Relative links only."""
    assert (ROOT / link).is_file()


def test_the_version_is_in_the_changelog_or_unreleased() -> None:
    """A release has its section."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    changelog = (ROOT / "CHANGELOG.md").read_text()
    assert f"## {version}" in changelog or "## Unreleased" in changelog
