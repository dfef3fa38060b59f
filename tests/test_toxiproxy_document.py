"""Every fact that docs/toxiproxy.md tells of Toxiproxy has its test, and every such test its fact."""

import re
from pathlib import Path

from suites.toxiproxy.source import IMAGE, PROGRAM, URL_VARIABLE, VERSION

ROOT = Path(__file__).parent.parent
DOCUMENT = (ROOT / "docs" / "toxiproxy.md").read_text()
FACTS = ("test_toxiproxy_ends.py", "test_toxiproxy_toxics.py", "test_toxiproxy_moments.py")


def test_facts_and_tests_are_the_same() -> None:
    """By name."""
    tests = {
        name for file in FACTS for name in re.findall(r"^def (test_\w+)", (ROOT / "tests" / file).read_text(), re.M)
    }
    assert set(re.findall(r"`(test_\w+)`", DOCUMENT)) == tests


def test_the_document_names_what_is_looked_for() -> None:
    """Version, variable, program and image."""
    assert all(f"`{word}`" in DOCUMENT for word in (URL_VARIABLE, PROGRAM, IMAGE))
    assert f"observed with version {VERSION}" in DOCUMENT
