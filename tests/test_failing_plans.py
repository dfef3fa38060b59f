"""A failing plan is kept under a name that a file can have, or shown where it cannot be written."""

import shlex
from pathlib import Path

import pytest

from faults.plan import Plan, PlannedOperation
from faults.plan_json import load_plan
from suites.failing_plans import FAILING_PLANS, kept


def plan(name: str) -> Plan:
    return Plan(name=name, operations=(PlannedOperation(faults=("reset-after",)),))


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("wait/reset-after/first", "wait--reset-after--first.json"),
        ("", "mine-*.json"),
        ("../../etc/x", "etc--x-*.json"),
        ("a\0\x1b[2J b", "a-2J-b-*.json"),
        ("\u4e16", "mine-*.json"),
        ("x" * 300, f"{'x' * 100}-*.json"),
    ],
)
def test_the_printed_command_finds_the_plan(name: str, file: str) -> None:
    """Whatever its name is; nothing is written elsewhere."""
    words = shlex.split(kept(plan(name), "mine", "a b.toml"))
    assert (words[:2], words[3:]) == (["retryproof", "replay"], ["--subject", "a b.toml"])
    assert load_plan(Path(words[2]).read_bytes()) == plan(name)
    assert [path.match(file) for path in Path().rglob("*.json")] == [True]


def test_two_long_names_are_two_files() -> None:
    """A later failure does not replace an earlier one."""
    kept(plan(f"{'x' * 200}1"), "mine", "nginx")
    kept(plan(f"{'x' * 200}2"), "mine", "nginx")
    assert len(list(FAILING_PLANS.iterdir())) == 2


def test_what_cannot_be_written_is_shown() -> None:
    """The verdict is not lost with its plan."""
    Path("retryproof-out").touch()
    says = kept(plan("x"), "mine", "nginx")
    assert "once this plan is there, which could not be written (" in says
    assert load_plan(says.partition("): ")[2]) == plan("x")
