"""The one-way flow is enforced by reading the imports of every file."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ALLOWED: dict[str, set[str]] = {
    "faults": set(),
    "fake_router": {"faults"},
    "forwarder": set(),
    "suites": {"faults", "fake_router"},
    "signoff": {"faults", "fake_router", "suites"},
    "retryproof": {"faults", "fake_router", "forwarder", "suites", "signoff"},
    "benchmarks": {"faults", "fake_router", "forwarder", "suites", "signoff", "retryproof"},
}
OURS = set(ALLOWED)
# The reference, as a subject and as a client of the matrix, is where the suites meet the forwarder.
EXCEPTIONS = {("suites/reference.py", "forwarder"), ("suites/evidence/reference_client.py", "forwarder")}
STDLIB_ONLY = {"faults"}


def _imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import; expected an absolute one"
            names.add((node.module or "").split(".")[0])
    return names


def _files(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


@pytest.mark.parametrize("package", sorted(ALLOWED))
def test_a_package_imports_only_what_lies_upstream_of_it(package: str) -> None:
    """Data flows left to right and never back."""
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in _files(package)
        for name in (_imports(path) & OURS) - {package} - ALLOWED[package]
        if (path.relative_to(ROOT).as_posix(), name) not in EXCEPTIONS
    ]
    assert wrong == []


@pytest.mark.parametrize("package", sorted(STDLIB_ONLY))
def test_the_vocabulary_needs_nothing_but_the_standard_library(package: str) -> None:
    """faults/ imports no third-party package."""
    outside = {
        (path.name, name)
        for path in _files(package)
        for name in _imports(path)
        if name not in sys.stdlib_module_names and name != package
    }
    assert outside == set()


def test_every_exception_is_still_used() -> None:
    """An exception that no import needs any more is removed."""
    assert all(name in _imports(ROOT / path) for path, name in EXCEPTIONS)


def test_every_package_is_placed() -> None:
    """A new package breaks the build until it has its place in the flow."""
    found = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert found == OURS
