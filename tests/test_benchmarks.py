"""All benchmarks are run by one command: what each prints is read back, and what is missing is said."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import __main__ as runner
from benchmarks import load_rows, plots
from benchmarks.measured import Measured, measured_of
from benchmarks.peers import ROOT, MissingError
from benchmarks.ratio import Ratio, ratio_of, ratios_in
from benchmarks.results_page import kept_in, page_of, write
from benchmarks.rows import ROWS, Row, row_named

ROW = ROWS[0]
GOOD = ratio_of("ours, to theirs", [0.5, 0.75, 0.25], most=1.0)
BAD = ratio_of("ours, to theirs (of 2)", [2.0], most=1.0)


@pytest.mark.parametrize("ratio", [GOOD, BAD, ratio_of("a = b (c)", [1.0, 3.0])])
def test_a_ratio_is_read_back_from_its_line(ratio: Ratio) -> None:
    """Between any other lines."""
    assert ratios_in(f"before\n{ratio.line}\nratio: of nothing\n") == [ratio]


def test_a_ratio_is_met_by_its_median() -> None:
    """At most, at least, or whatever it is."""
    assert (GOOD.met, BAD.met) == (True, False)
    assert GOOD.line == "ratio: ours, to theirs = 0.5 (0.25 to 0.75, 3 repeats), expected at most 1"
    assert [ratio_of("x", [value], least=2.0).met for value in (1.9, 2.0)] == [False, True]
    assert ratio_of("x", [9.0]).met
    with pytest.raises(ValueError, match="no repeat"):
        ratio_of("x", [])


@pytest.mark.parametrize(
    ("code", "output", "errors", "missing", "broken"),
    [
        (0, GOOD.line, "", "", ""),
        (1, BAD.line, "", "", ""),
        (1, GOOD.line, "it broke\nfor a reason", "", "exit code 1: for a reason"),
        (
            4,
            "",
            "x is not installed; expected it (pip install x)",
            "x is not installed; expected it (pip install x)",
            "",
        ),
        (-9, "", "", "", "exit code -9: it said nothing"),
    ],
)
def test_how_a_command_ended_is_what_its_row_came_to(
    code: int, output: str, errors: str, missing: str, broken: str
) -> None:
    """A ratio that is not met has measured something; a row that broke has not."""
    measured = measured_of(ROW, code, output + "\nbottleneck: the disk\n", errors, 1.0)
    assert (measured.missing, measured.broken, measured.bottleneck) == (missing, broken, "the disk")
    assert measured_of(ROW, code, output, errors, 1.0).bottleneck == ROW.bottleneck


def test_a_page_has_every_row_and_keeps_the_others(tmp_path: Path) -> None:
    """What was not measured again is as it was."""
    good = measured_of(ROWS[0], 0, GOOD.line, "", 1.0)
    bad = measured_of(ROWS[1], 1, BAD.line, "", 1.0)
    missing = measured_of(ROWS[2], 4, "", "no nginx", 1.0)
    page = tmp_path / "results.md"
    assert kept_in(page) == {}
    write(page, {row.name: row for row in (missing, bad, good)})
    assert kept_in(page) == {row.name: row for row in (good, bad, missing)}
    text = page.read_text()
    assert text == page_of({row.name: row for row in (good, bad, missing)})
    assert f"| `{good.name}` | ours, to theirs | 0.5 (0.25 to 0.75; 3) | at most 1 | yes |" in text
    assert f"| `{bad.name}` | ours, to theirs (of 2) | 2 (2 to 2; 1) | at most 1 | **no** |" in text
    assert f"| `{missing.name}` | no nginx | | | not measured |" in text
    assert f"Bottleneck: {ROWS[0].bottleneck}." in text


@pytest.mark.parametrize(
    ("outcomes", "code"), [([(0, GOOD)], 0), ([(1, BAD), (0, GOOD)], 1), ([(4, None), (0, GOOD)], 4), ([(2, None)], 1)]
)
def test_the_exit_code_is_that_of_the_worst_row(
    outcomes: list[tuple[int, Ratio | None]], code: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """And the others are run all the same."""
    left = list(outcomes)

    def one(row: Row) -> Measured:
        ended, ratio = left.pop(0)
        return measured_of(row, ended, ratio.line if ratio else "", "no x", 1.0)

    monkeypatch.setattr(runner, "_one", one)
    names = [row.name for row in ROWS[: len(outcomes)]]
    assert runner.main([*names, "--out", str(tmp_path / "results.md")]) == code
    assert set(kept_in(tmp_path / "results.md")) == set(names)


def test_a_row_that_is_not_known_is_wrong_usage() -> None:
    """With the names that are."""
    with pytest.raises(ValueError, match=f"'x'; expected one of {ROWS[0].name}"):
        row_named("x")
    with pytest.raises(SystemExit, match="2"):
        runner.main(["x"])


def test_every_row_is_a_module_that_teaches() -> None:
    """A typing error in the table would be a row that never runs."""
    root = Path(runner.__file__).parent
    assert all((root / f"{row.words[0].removeprefix('benchmarks.')}.py").is_file() for row in ROWS)
    assert {row.words[1] for row in ROWS if row.words[0] == "benchmarks.load_rows"} == set(load_rows.ROWS)


def test_a_machine_that_is_too_small_is_said_to_be(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the words of the load, which names the number that is missing."""
    monkeypatch.setattr(load_rows, "_loaded", lambda *_, **__: (_ for _ in ()).throw(MissingError("no room")))
    assert load_rows.main(["load_held"]) == 4
    assert capsys.readouterr().err == "load_held: no room\n"


def test_what_is_measured_beside_is_missing_with_its_install_line() -> None:
    """httpx is in the extra."""
    code = (
        "import sys; sys.modules['httpx'] = None; from benchmarks.forwarder_load import main; raise SystemExit(main())"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 4
    assert "pip install 'retryproof[bench]'" in ran.stderr


def test_the_plot_shows_what_was_measured_last() -> None:
    """docs/performance.svg is drawn from benchmarks/results.json, and never by hand."""
    measured = kept_in(plots.PAGE)["forwarder_load"]
    assert plots.PLOT.read_text() == plots.plot(measured.output)
    assert {client: len(points) for client, points in plots.cpu_in(measured.output).items()} == {
        "aiohttp": 4,
        "httpx": 4,
    }


def test_the_page_is_what_the_data_beside_it_says() -> None:
    """All but the machine, which is another one here."""
    rows = kept_in(plots.PAGE)
    table = [line for line in page_of(rows).splitlines() if line.startswith("| ")]
    assert [line for line in plots.PAGE.read_text().splitlines() if line.startswith("| ")] == table
