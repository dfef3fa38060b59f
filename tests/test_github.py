"""`--github`: annotations that GitHub shows, whatever texts hold, and the summary of the step."""

import datetime as dt
from pathlib import Path

import msgspec
import pytest

from retryproof.exits import CommandError, Exit
from retryproof.github import SUMMARY, announce, commands_stopped, could_not_run
from signoff.annotations import Annotation, annotations_of_report, annotations_of_sign_off, lines_of
from signoff.sign_off import Allowance
from signoff.signing_off import sign_off_of
from tests.command_process import Place
from tests.literal_reports import LOST, RETRIED, TWICE, broken, cell, literal_report

HOSTILE = "100% a:b,c::error::x\n::error::y\r\x1b[31m"


def titles(lines: list[Annotation]) -> list[tuple[str, str]]:
    """The level and the title of each."""
    return [(each.level, each.title) for each in lines]


def test_no_text_ends_an_annotation() -> None:
    """One line each; a property has no colon and no comma of its own."""
    line = Annotation(level="error", title=HOSTILE, says=HOSTILE).line()
    told = r"100%25 a:b,c::error::x\n::error::y\r\x1b[31m"
    assert line == f"::error title={told.replace(':', '%3A').replace(',', '%2C')}::{told}"


def test_a_check_says_what_fails_and_what_warns() -> None:
    report = literal_report(
        cell(id="held"),
        broken(RETRIED, id="fails"),
        broken(TWICE, id="known", known=True),
        cell(id="unknown", verdict="UNKNOWN", reason="it never struck"),
        cell(id="warns", warnings=1, findings=(LOST,)),
        cell(id="unrun", verdict="not_run", reason="needs root"),
    )
    found = list(annotations_of_report(msgspec.structs.replace(report, named="mine.toml", partial="interrupted")))
    assert titles(found) == [
        ("notice", "PASS: mine.toml"),
        ("error", "not whole: mine.toml"),
        ("error", "fails of mine.toml"),
        ("warning", "known: known of mine.toml"),
        ("warning", "unknown of mine.toml"),
        ("warning", "warns of mine.toml"),
    ]
    assert found[2].says == "FAIL: 1 sent, 1 run, ok 200; was sent again"


@pytest.mark.parametrize(("strict", "still"), [(False, "warning"), (True, "error")])
def test_a_sign_off_says_what_blocks_and_what_warns(strict: bool, still: str) -> None:
    base = literal_report(cell(id="a"), broken(TWICE, id="b"), cell(id="c"), cell(id="d"), cell(id="e"))
    weaker, excused = cell(id="c", attempts=2), broken(RETRIED, id="d")
    candidate = literal_report(broken(RETRIED, id="a"), broken(TWICE, id="b"), weaker, excused)
    paths = ("base/report.json", "candidate/report.json")
    made = sign_off_of(base, candidate, paths=paths, strict=strict, today=dt.date(2026, 11, 30), named=("old", "new"))
    used = Allowance(cells="d", reason="r", owner="me", expires="2027-01-01", state="used", excused=1)
    stale = msgspec.structs.replace(used, cells="x/*", state="expired")
    cells = tuple(msgspec.structs.replace(each, excused=0 if each.id == "d" else None) for each in made.cells)
    made = msgspec.structs.replace(made, allowances=(used, stale), cells=cells)
    assert titles(list(annotations_of_sign_off(made))) == [
        ("notice", "BLOCK: old -> new"),
        ("error", "regressed: a"),
        (still, "still broken: b"),
        ("warning", "weaker: c"),
        ("warning", "unproven: e"),
        ("warning", "allowance is expired"),
    ]


def test_of_each_level_ten_are_shown_and_the_last_counts_the_rest() -> None:
    """GitHub drops the eleventh in silence."""
    many = [Annotation(level="error", title=f"e{n}", says="") for n in range(25)]
    ten = [Annotation(level="warning", title=f"w{n}", says="") for n in range(10)]
    lines = list(lines_of([*ten, *many]))
    assert [line for line in lines if line.startswith("::warning")] == [each.line() for each in ten]
    errors = [line for line in lines if line.startswith("::error")]
    assert len(errors) == 10
    assert errors[9] == "::error title=16 more::in report.md and report.html"


def test_pages_are_appended_to_the_summary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What other tools wrote there stays; one that cannot be written is told."""
    monkeypatch.setenv(SUMMARY, str(tmp_path / "summary.md"))
    (tmp_path / "summary.md").write_text("before\n")
    annotation, page = could_not_run(CommandError("no <such> subject", Exit.USAGE), "a|b")
    announce([annotation], [page, b"next"])
    assert capsys.readouterr().out == "::error title=no verdict%3A a|b::no <such> subject\n"
    written = "before\n## ⚠️ a&#124;b: no verdict\n\nno &#60;such&#62; subject\n\nnext\n"
    assert (tmp_path / "summary.md").read_text() == written
    monkeypatch.setenv(SUMMARY, str(tmp_path))
    with pytest.raises(CommandError, match=f"cannot write {SUMMARY}") as refused:
        announce([], [b""])
    assert refused.value.code is Exit.COULD_NOT_RUN


def test_nothing_printed_meanwhile_is_taken_for_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever ends it; each time under a token that nobody can know before."""
    for _ in range(2):
        with pytest.raises(KeyError), commands_stopped(True):
            raise KeyError
    stopped, resumed, again, _ = capsys.readouterr().out.splitlines()
    assert stopped == f"::stop-commands::{resumed.strip(':')}"
    assert again != stopped
    with commands_stopped(False):
        pass
    assert capsys.readouterr().out == ""


def test_check_and_signoff_announce_also_when_quiet(tmp_path: Path) -> None:
    """After all else; wrong usage stays an error of its own."""
    place = Place(path=tmp_path, env={SUMMARY: str(tmp_path / "summary.md")})
    cells = ("--only", "status/503-before/first", "--quiet", "--github", "--out", "out")
    sides = ("reference:safe", "reference:blanket-5xx")
    checked, signed = place.run("check", sides[1], *cells), place.run("signoff", *sides, *cells)
    assert (checked.code, signed.code) == (1, 1)
    said = [
        [line.partition("::")[2].partition("::")[0] for line in each.out.splitlines()[2:]] for each in (checked, signed)
    ]
    assert said == [
        [
            "error title=status/503-before/first of reference%3Ablanket-5xx",
            "notice title=FAIL%3A reference%3Ablanket-5xx",
        ],
        [
            "error title=regressed%3A status/503-before/first",
            f"notice title=BLOCK%3A {' -> '.join(sides)}".replace("e:", "e%3A"),
        ],
    ]
    assert [
        line.partition(":")[0] for line in (tmp_path / "summary.md").read_text().splitlines() if line[:3] == "## "
    ] == [
        "## ❌ FAIL",
        "## ❌ BLOCK",
    ]
    assert place.run("check", "missing.toml", *cells).code == 2
