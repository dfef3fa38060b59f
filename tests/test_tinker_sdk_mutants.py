"""The real SDK as the caller of servers that are wrong on purpose: it loses results, or has work done twice."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from suites.bench import Bench, BrokenMustError
from suites.tinker_sdk.bench import SdkBench, Transport
from suites.tinker_sdk.scenarios import SCENARIOS

pytestmark = pytest.mark.tinker

ROOT = Path(__file__).parent.parent
SERVER = (ROOT / "suites" / "subjects" / "reference-server.toml").read_text()
BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}


@contextmanager
def _mutant(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SdkBench]:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # where its process finds the mutants
    wrong = SERVER.replace('"-m", "forwarder"', f'"-m", "tests.futures_mutants", "{name}"')
    assert wrong != SERVER
    file = folder / "mutant.toml"
    file.write_text(wrong)
    with Bench.open(str(file), 1, toxiproxy=True) as bench, SdkBench.open(bench) as sdk:
        yield sdk


@pytest.mark.parametrize(
    ("mutant", "scenario", "part"),
    [
        ("ttl-at-an-abandoned-poll", "poll cut by timeout", "got ValueError: Error retrieving result: Error code: 404"),
        ("marks-retrieved-on-write", "poll cut by down", "got ValueError: Error retrieving result: Error code: 404"),
        ("new-future-on-resubmit", "submit reply lost by reset_peer", "was executed 2 times; expected once"),
        ("new-future-on-resubmit", "submit reply lost in flight", "was executed 2 times; expected once"),
    ],
)
def test_a_wrong_server_is_found(
    mutant: str, scenario: str, part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By what its caller sees of it, or by the router's ledger; and it serves who loses nothing on the way."""
    with _mutant(mutant, tmp_path, monkeypatch) as sdk:
        sdk.holds(BY_NAME["sample"], Transport.PYQWEST)
        with pytest.raises(BrokenMustError, match=part):
            sdk.holds(BY_NAME[scenario], Transport.PYQWEST)
