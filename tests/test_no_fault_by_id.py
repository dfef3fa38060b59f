"""No component knows a fault by its id: what it needs to know of one it reads off the fault's data."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.catalogue import CATALOGUE, FAMILIES
from faults.families import NUMBER

ROOT = Path(__file__).parent.parent
PACKAGES = ("faults", "fake_router", "forwarder", "suites", "signoff", "retryproof")
IDS = frozenset(CATALOGUE)
# Of an id with a hyphen, also its mention inside a longer text is seen; the others are words of the language.
MENTION = re.compile(
    rf"(?<![\w-])({'|'.join(id_ for id_ in CATALOGUE if '-' in id_)})(?![\w-])"
    rf"|\b({'|'.join(family.name.partition(NUMBER)[0] for family in FAMILIES)})"
)
EXCEPTIONS = {
    ("faults/vocabulary.py", ""): "words of its own, from which ids are made, never the other way round",
    ("retryproof/faults.py", "reset-after"): "an example in a help text",
}


def _texts(tree: ast.AST) -> Iterator[ast.Constant]:
    """All texts of a module that are no docstrings."""
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node


def _known(path: Path) -> set[str]:
    """The ids that this file knows."""
    texts = [str(text.value) for text in _texts(ast.parse(path.read_text()))]
    return {text for text in texts if text in IDS} | {found[0] for text in texts for found in MENTION.finditer(text)}


def _found(package: str) -> set[tuple[str, str]]:
    """Files and ids; the data of the catalogue itself are left out."""
    files = [path for path in (ROOT / package).rglob("*.py") if not path.name.endswith("_faults.py")]
    return {(path.relative_to(ROOT).as_posix(), id_) for path in files for id_ in _known(path)}


@pytest.mark.parametrize("package", PACKAGES)
def test_no_component_knows_a_fault_by_its_id(package: str) -> None:
    """It compares acts, or asks the fault."""
    known = _found(package)
    assert {one for one in known if one not in EXCEPTIONS and (one[0], "") not in EXCEPTIONS} == set()


def test_every_exception_is_still_used() -> None:
    """One that no file needs any more is removed."""
    found = {one for package in PACKAGES for one in _found(package)}
    files = {(path, "") for path, _ in found}
    assert EXCEPTIONS.keys() <= found | files


@pytest.mark.parametrize(
    ("source", "sees"),
    [
        ('if fault == "healthy": pass', True),
        ('says = f"as {x} after reset-after did"', True),
        ('id_ = f"cut-at-{number}-fin"', True),
        ('"""healthy"""', False),
        ('def f():\n    """A docstring about reset-after."""', False),
        ('says = "a healthy router; reset-afterwards"', False),
    ],
)
def test_an_id_is_seen_in_whatever_text_it_stands(source: str, sees: bool, tmp_path: Path) -> None:
    """Docstrings may speak of faults, code may not."""
    (tmp_path / "one.py").write_text(source)
    assert bool(_known(tmp_path / "one.py")) is sees
