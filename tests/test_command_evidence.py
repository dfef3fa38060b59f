"""`retryproof evidence` as a process: what it prints and writes, and how it ends where not all can be observed."""

import json
import signal
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from retryproof.__main__ import run
from retryproof.exits import Exit
from suites.evidence import client as clients
from suites.evidence.matrix import load_matrix
from tests.command_process import Place, ended, wait_until

SMALL = ("evidence", "--only", "connect-refused")


def test_what_is_observed_is_printed_and_written(tmp_path: Path) -> None:
    """Only what was asked for, as a table and as data."""
    place = Place(path=tmp_path)
    end = place.run(*SMALL, "--client", "http.client", "--client", "aiohttp", "--json", "one.json", "--out", "both")
    assert (end.code, end.err) == (0, "")
    assert "ConnectionRefusedError, ECONNREFUSED [1/0]" in end.out
    matrix = load_matrix((tmp_path / "one.json").read_bytes())
    assert {(row.fault, row.client) for row in matrix.rows} == {
        ("connect-refused", "aiohttp"),
        ("connect-refused", "http.client"),
    }
    assert (tmp_path / "both" / "evidence.json").read_bytes() == (tmp_path / "one.json").read_bytes()
    assert "| `connect-refused` | SAFE | aiohttp |" in (tmp_path / "both" / "evidence.md").read_text()


def test_a_client_that_is_not_installed_is_named_and_the_others_are_observed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With what to install; the exit code says that not all could run."""

    def version(package: str) -> str:
        if package == "httpx":
            raise PackageNotFoundError
        return "1.0"

    monkeypatch.setattr(clients, "version", version)
    assert run([*SMALL, "--client", "httpx", "--client", "aiohttp"]) is Exit.COULD_NOT_RUN
    captured = capsys.readouterr()
    assert "'httpx' is not installed" in captured.err
    assert "pip install 'retryproof[clients]'" in captured.err
    assert "ClientConnectorError" in captured.out


def test_an_interrupted_observation_writes_what_it_has(tmp_path: Path) -> None:
    """The data is whole, of fewer rows; the committed matrix is left alone."""
    place = Place(path=tmp_path)
    process = place.start("evidence", "--json", "some.json", "--write", "docs")
    with process:
        wait_until(process, lambda: len(list(Path(f"/proc/{process.pid}/task").iterdir())) > 4)  # its threads live
        process.send_signal(signal.SIGINT)
        end = ended(process)
    assert end.code == Exit.INTERRUPTED
    assert "interrupted" in end.err
    assert "rows" in json.loads((tmp_path / "some.json").read_bytes())
    assert not (tmp_path / "docs").exists()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """What was observed has been printed by then."""
    (tmp_path / "file").write_text("")
    end = Place(path=tmp_path).run(*SMALL, "--client", "http.client", "--out", "file/below")
    assert end.code == Exit.COULD_NOT_RUN
    assert "cannot write" in end.message()
    assert "connect-refused" in end.out
