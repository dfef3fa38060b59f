"""`retryproof report FOLDER`: the faces again from what is stored, and nothing else."""

import datetime as dt
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from retryproof.__main__ import run
from retryproof.exits import Exit
from retryproof.faces import FACES
from retryproof.folder import write_whole
from retryproof.sign_off_folder import FACES as SIGN_OFF_FACES
from signoff.report import Report, dump_report
from signoff.sign_off import dump_sign_off
from signoff.signing_off import sign_off_of
from tests.literal_reports import RETRIED, broken, cell, literal_report
from tests.test_load_report import loaded

PATHS = ("base/report.json", "candidate/report.json")
BASE, CANDIDATE = (
    msgspec.structs.replace(literal_report(each), named="mine.toml") for each in (cell(), broken(RETRIED))
)
SIGNED = sign_off_of(BASE, CANDIDATE, paths=PATHS, strict=False, today=dt.date(2026, 11, 30), named=("a", "b"))


def files(folder: Path) -> dict[str, bytes]:
    """What is in it, by path."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def drawn(report: Report, under: str = "") -> dict[str, bytes]:
    """The faces of a report, by path."""
    return {f"{under}{name}": draw(report) for name, draw in FACES}


def test_the_faces_of_a_check_are_drawn_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever was there of them; what they are drawn from stays as it is."""
    stored = {"report.json": dump_report(CANDIDATE)}
    write_whole(tmp_path / "report.json", stored["report.json"])
    write_whole(tmp_path / "report.html", b"broken")
    assert run(["report", str(tmp_path)]) is Exit.PASS
    assert files(tmp_path) == {**stored, **drawn(CANDIDATE)}
    out = capsys.readouterr().out
    assert out.startswith("PASS mine (1, promises answering): ")
    assert f"drawn: {tmp_path / 'report.md'}\n" in out


def test_the_faces_of_a_sign_off_and_of_its_sides_are_drawn_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a side that has a report by now; --quiet prints nothing. The verdict is no matter of the exit code."""
    stored = {"signoff.json": dump_sign_off(SIGNED), "base/report.json": dump_report(BASE)}
    for name, data in stored.items():
        write_whole(tmp_path / name, data)
    assert run(["report", str(tmp_path), "--quiet"]) is Exit.PASS
    faces = {name: draw(SIGNED) for name, draw in SIGN_OFF_FACES}
    assert files(tmp_path) == {**stored, **faces, **drawn(BASE, "base/")}
    assert capsys.readouterr().out == ""
    run(["report", str(tmp_path)])
    assert capsys.readouterr().out.startswith("BLOCK a -> b: 1 regressed")


def changed(**keys: Any) -> bytes:
    """A report with other keys."""
    return json.dumps({**json.loads(dump_report(BASE)), **keys}).encode()


@pytest.mark.parametrize(
    ("stored", "says"),
    [
        ({}, "holds no report; expected the folder of a check (report.json) or of a sign-off (signoff.json)\n"),
        ({"run-1/report.json": b"", "run-2/signoff.json": b""}, "run-2' in it\n"),
        ({"report.json": b"{"}, "report.json' is no Report (Input data was truncated)"),
        (
            {"report.json": changed(schema=2)},
            "has schema 2; this version of retryproof reads 1: it is from a newer version",
        ),
        ({"report.json": msgspec.json.encode(loaded())}, "; it is that of a load, which is looked at in "),
        ({"signoff.json": changed()}, "signoff.json' is no SignOff"),
        ({"signoff.json": dump_sign_off(SIGNED), "base/report.json": b"[]"}, "base/report.json' is no Report"),
        ({"report.json/x": b""}, "cannot read"),
    ],
)
def test_a_bad_folder_gets_one_message_and_no_face(
    stored: dict[str, bytes], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, and everything is as it was."""
    for name, data in stored.items():
        write_whole(tmp_path / name, data)
    assert run(["report", str(tmp_path)]) is Exit.USAGE
    err = capsys.readouterr().err
    assert says in err
    assert err.count("\n") == 1
    assert files(tmp_path) == stored


@pytest.mark.parametrize(
    ("name", "says"), [("missing", "is not there"), ("file", "is a file"), ("x" * 5_000, "too long")]
)
def test_what_is_no_folder_is_told(name: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    assert run(["report", str(tmp_path / name)]) is Exit.USAGE
    assert says in capsys.readouterr().err


def test_what_was_changed_by_hand_is_drawn_as_it_says(tmp_path: Path) -> None:
    """Counts and allowances that are not there are no reason to crash."""
    excused = msgspec.structs.replace(SIGNED, counts={}, cells=(msgspec.structs.replace(SIGNED.cells[0], excused=7),))
    write_whole(tmp_path / "signoff.json", dump_sign_off(excused))
    write_whole(tmp_path / "base" / "report.json", changed(counts={}))
    assert run(["report", str(tmp_path), "--quiet"]) is Exit.PASS
    assert run(["report", str(tmp_path / "base")]) is Exit.PASS
