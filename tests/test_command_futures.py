"""The suite of futures from the command: what fails has its script, which fails again; and what is no script."""

import os
import re
from pathlib import Path

import pytest

from retryproof.exits import Exit
from suites.futures.offer import Offer
from suites.futures.script import dump_script, load_script
from suites.futures.told import told
from suites.subject_file import BUILT_IN
from tests.command_process import Place

ROOT = Path(__file__).parent.parent
MUTANT = "ttl-at-an-abandoned-poll"
PLAIN = dump_script(told(Offer())["the reply to a submit is lost"])


def _mutant(folder: Path) -> str:
    """A subject file of that mutant, which lies in the folder of the command."""
    text = (BUILT_IN / "reference-server.toml").read_text()
    (folder / "mutant.toml").write_text(text.replace('"forwarder",', f'"tests.futures_mutants", "{MUTANT}",'))
    return "mutant.toml"


def _place(folder: Path) -> Place:
    return Place(path=folder, env={"PYTHONPATH": os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", "")))})


def test_what_fails_is_shown_with_its_script_and_fails_again(tmp_path: Path) -> None:
    """Rows of the report, the smallest script, its timeline, and a command that lives through it again."""
    place = _place(tmp_path)
    subject = _mutant(tmp_path)
    ended = place.run("check", subject, "--only", "futures/*", "--examples", "0", "--out", "out")
    assert (ended.code, ended.err) == (1, "")
    report = place.report()
    failed = {cell.id: cell for cell in report.cells if cell.verdict == "FAIL"}
    assert "futures/undelivered-is-retrievable" in failed
    assert report.situations["poll left by fin in flight"] > 0
    assert {cell.verdict for cell in report.cells} <= {"PASS", "FAIL", "not_run"}
    assert re.search(r"poll 0: its caller leaves \(fin\)", ended.out)
    script = place.folders()[0] / "plans" / "futures--undelivered-is-retrievable.json"
    assert load_script(script.read_bytes()).name.startswith("left by")
    again = place.run("replay", str(script), "--subject", subject, "--times", "2")
    assert (again.code, again.err) == (1, "")
    assert "2 replays: 2 FAIL" in again.out
    assert place.temporary() == []


def test_a_script_is_replayed_on_the_reference_server_unless_told_otherwise(tmp_path: Path) -> None:
    """It passes there."""
    (tmp_path / "script.json").write_text(PLAIN)
    ended = _place(tmp_path).run("replay", "script.json")
    assert (ended.code, ended.err) == (0, "")
    assert "its reply is lost (unread)" in ended.out
    assert re.search(r"^PASS$", ended.out, re.MULTILINE)


@pytest.mark.parametrize(
    ("text", "arguments", "says"),
    [
        ('{"schema": 1, "steps": [{"step": "poll", "operation": 0}]}', (), "steps[0]: operation 0; expected"),
        ('{"schema": 7, "steps": []}', (), "schema is 7; this version reads 1"),
        (PLAIN, ("--subject", "nginx"), "promises futures"),
        (PLAIN, ("--twin", "script.json"), "a script has no twin"),
    ],
)
def test_what_cannot_be_replayed_is_wrong_usage(
    tmp_path: Path, text: str, arguments: tuple[str, ...], says: str
) -> None:
    """One message, with what was expected."""
    (tmp_path / "script.json").write_text(text)
    ended = _place(tmp_path).run("replay", "script.json", *arguments)
    assert ended.code == Exit.USAGE
    assert says in ended.message()
