"""Wrong usage and bad input end with exit code 2 and one message; help teaches; nothing is started or written."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from retryproof.__main__ import run
from retryproof.dispatch import SUMMARIES, command_named, tool
from retryproof.exits import Exit, joined
from tests.command_process import Place

NAMES = list(SUMMARIES)
SUBJECT = """\
name = "mine"
command = ["{python}", "-c", "pass"]
speaks = "openai-completions"
promises = "transparent"
connect_timeout_ms = 300
read_timeout_ms = 300
quiet_ms = 400
"""
PLAN = '{"schema": 1, "operations": [{"faults": ["reset-after"]}]}'

# arguments -> the value that is quoted, and what was expected or is to be done next
WRONG: list[tuple[str, str, str]] = [
    ("chekc", "'chekc'", "did you mean 'check'?"),
    ("--frobnicate", "'--frobnicate'", "check, signoff, replay"),
    ("check -x", "-x", "retryproof check --help"),
    ("check --depth shallow", "'shallow'", "core"),
    ("check --examples many", "'many'", "expected a whole number from 0 to 100000"),
    ("check --examples -1", "'-1'", "expected a whole number"),
    ("check --examples 999999999999999999999999", "999", "expected a whole number"),
    ("check --seed 1.5", "'1.5'", "expected a whole number"),
    ("check --seed", "--seed", "expected one argument"),
    ("check --only zzz*", "'zzz*'", "expected a glob over cell ids such as"),
    ("check --only */reused --depth core --only connect/*/reused", "'connect/*/reused'", "expected a glob"),
    ("check --jobs 0", "'0'", "expected a whole number from 1 to 64"),
    ("check --ray 10.0.0.1", "'10.0.0.1'", "expected HOST:PORT of the head of a Ray cluster, or auto"),
    ("survey nginx --ray ray://h:10001", "'ray://h:10001'", "expected HOST:PORT"),
    ("signoff nginx nginx --ray auto --own-network", "--ray beside --own-network", "expected one of them"),
    ("check --lanes many", "'many'", "expected a whole number from 1 to 64"),
    ("check --under latency", "''", "expected a whole number"),
    ("check --under latency=9999999999999", "'9999999999999'", "expected a whole number of at most 12 digits"),
    ("check --under lag=20", "'lag'", "is no toxic; expected latency=MS"),
    ("check --under latency=20,stream=sideways", "'sideways'", "expected upstream, downstream or both"),
    ("check --under down+timeout", "'down+timeout'", "expected at most one toxic that is itself the fault"),
    ("check --under latency=2+latency=3", "'latency=2+latency=3'", "lays one toxic twice over the same stream"),
    ("check --under latency=2 --under down", "--under: stands twice", "expected it once, several toxics joined by +"),
    ("check --draw-toxics --depth core", "--draw-toxics", "where no plan is drawn; expected --examples N"),
    ("signoff nginx reference --draw-toxics --under down", "--draw-toxics", "where no plan is drawn"),
    ("signoff nginx reference --under slicer=0", "'slicer=0'", "average_bytes is 0"),
    ("signoff nginx reference --jobs 65", "'65'", "expected a whole number from 1 to 64"),
    ("check http://h --own-network", "'http://h' beside --own-network", "expected one of them"),
    ("check ngimx", "'ngimx'", "nearest: nginx"),
    ("check .", "'.' is a folder", "expected the TOML file in it"),
    ("check nginx:brave", "'nginx:brave'", "retryproof subjects"),
    ("check reference:brave", "'brave'", "expected one of safe, blanket-5xx, never"),
    ("check http://127.0.0.1:1", "http://127.0.0.1:1: --listen", "expected a list of HOST:PORT"),
    ("replay plan.json --subject http://h --listen h:1", "http://h: --speaks", "e.g. --speaks openai-completions"),
    ("check http://h reference", "'http://h' beside 1 more", "expected one URL alone"),
    ("check nginx --listen 127.0.0.1:1", "'nginx' beside --listen 127.0.0.1:1", "those options are about a URL"),
    ("check --set quiet_ms=1", "'reference' beside --set quiet_ms=1", "those options are about a URL"),
    ("signoff nginx http://h", "'http://h'", "expected a TOML file with `url`"),
    ("check my.module:forwarder", "'my.module:forwarder'", "there is no module 'my'"),
    ("check json:nothing", "'json:nothing'", "has no 'nothing'"),
    ("check json:loads", "'json:loads'", "which is not async"),
    ("check nowhere.toml", "nowhere.toml", "expected a subject file in TOML"),
    ("check folder.toml", "folder.toml", "expected a subject file in TOML"),
    (f"check {'x' * 300}", "xxx", "expected a built-in name"),
    ("check reference broken.toml", "broken.toml", "expected a subject file"),
    ("check binary.toml", "binary.toml", "expected a subject file"),
    ("check deep.toml", "deep.toml", "expected a subject file"),
    ("check typo.toml", "'quite_ms'", "expected some of"),
    ("check negative.toml", "-5", "expected"),
    ("signoff reference", "CANDIDATE", "retryproof signoff --help"),
    ("signoff reference ngimx", "'ngimx'", "nearest: nginx"),
    ("signoff reference nginx extra", "extra", "retryproof signoff --help"),
    ("replay", "PLAN.json", "retryproof replay --help"),
    ("replay nowhere.json", "'nowhere.json'", "expected a plan as `retryproof check` writes them"),
    ("replay folder.toml", "'folder.toml'", "expected a plan"),
    ("replay broken.json", "'broken.json'", "expected an object with `schema` and `operations`"),
    ("replay binary.toml", "'binary.toml'", "expected an object"),
    ("replay deep.json", "'deep.json'", ""),
    ("replay later.json", "2", "this version reads 1"),
    ("replay odd.json", "'reset-sideways'", "retryproof faults"),
    ("replay plan.json --times 0", "'0'", "expected a whole number from 1"),
    ("replay plan.json --subject ngimx", "'ngimx'", "nearest: nginx"),
    ("replay plan.json --twin two.json", "'two.json'", "expected 1: the same plan with the twin fault"),
    ("faults reset-after --write page.md", "'reset-after' beside --write", "expected the whole catalogue"),
    ("faults reset-aftr", "'reset-aftr'", "nearest: reset-after"),
    (
        "faults cut-at-N-fin",
        "'cut-at-N-fin'",
        "expected a number from 1 to 463 in place of its N, as in 'cut-at-1-fin'",
    ),
    (f"faults cut-at-{'9' * 5000}-fin", "'cut-at-999", "expected a number from 1 to 463"),
    (f"evidence --only cut-at-{'9' * 5000}-fin", "'cut-at-999", "matches no fault"),
    ("evidence --only cut-at-18-fin", "'cut-at-18-fin'", "is named by a plan (`retryproof replay PLAN.json`)"),
    ("check --only */cut-at-18-fin/*", "'*/cut-at-18-fin/*'", "of 'cut-at-N-fin' the catalogue has cut-at-1-fin"),
    ("evidence --client curl", "'curl'", "expected one of aiohttp, http.client"),
    ("evidence --only zzz*", "'zzz*'", "matches no fault"),
    ("evidence --write docs --only reset*", "'docs'", "expected the whole matrix"),
    ("subjects ngimx", "'ngimx'", "nearest: nginx"),
    ("subjects broken.toml", "broken.toml", "expected a subject file"),
    ("replay .", "'.'", "expected the path of a file"),
    ("ca .", "'.'", "expected the path of a file"),
    ("faults --write docs/", "'docs/'", "expected the path of a file"),
    ("check --out=", "''", "expected the path of a folder, or `.`"),
    ("router --port 65536", "'65536'", "expected a whole number from 0 to 65535"),
    ("router" + " --port 0" * 17, "17", "expected at most 16"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with good and bad files in it."""
    files: dict[str, str | bytes] = {
        "broken.toml": "name = [",
        "binary.toml": b"\xff\xfe\x00",
        "deep.toml": "a = " + "[" * 100_000,
        "typo.toml": SUBJECT.replace("quiet_ms", "quite_ms"),
        "negative.toml": SUBJECT.replace("quiet_ms = 400", "quiet_ms = -5"),
        "plan.json": PLAN,
        "two.json": PLAN.replace("[{", '[{"faults": []}, {'),
        "broken.json": PLAN[:-1],
        "deep.json": "[" * 100_000,
        "later.json": PLAN.replace("1", "2"),
        "odd.json": PLAN.replace("reset-after", "reset-sideways"),
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    (tmp_path / "folder.toml").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("line", "quoted", "expected"), WRONG, ids=[wrong[0][:60] for wrong in WRONG])
def test_wrong_usage_is_one_message_that_quotes_and_teaches(
    folder: Path, capsys: pytest.CaptureFixture[str], line: str, quoted: str, expected: str
) -> None:
    """Exit code 2, nothing on stdout, one line on stderr; no output folder is made."""
    before = sorted(folder.iterdir())
    assert run(line.split()) is Exit.USAGE
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(r"retryproof: [^\n]+\n", err), err
    assert quoted in err
    assert expected in err
    assert sorted(folder.iterdir()) == before


def test_nothing_runs_before_all_names_are_known(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A typo in the last name costs nobody the minutes of the first."""

    monkeypatch.setattr("retryproof.examine.with_subjects", None)  # calling it would be an internal error
    assert run(["check", "reference", "nginx", "ngimx"]) is Exit.USAGE
    assert run(["signoff", "reference", "ngimx"]) is Exit.USAGE
    assert capsys.readouterr().err.count("'ngimx'") == 2


def test_a_process_ends_with_the_code_of_its_command(tmp_path: Path) -> None:
    """What `run` returns is what a shell sees, also when options stand between subjects."""
    place = Place(path=tmp_path)
    ended = place.run("check", "nginx", "--depth", "core", "reference", "--quiet", "ngimx")
    assert (ended.code, ended.out) == (2, "")
    assert ended.message() == (
        "subject 'ngimx' is not known; expected a built-in name (`retryproof subjects` lists them), a TOML file, "
        "a compose file, a URL or module:callable; nearest: nginx, nghttpx"
    )


def test_without_a_command_the_help_is_printed_and_the_usage_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    """A script that forgot its command must not pass."""
    assert run([]) is Exit.USAGE
    assert run(["--help"]) is Exit.PASS
    out = capsys.readouterr().out
    assert out[: len(out) // 2] == out[len(out) // 2 :]
    assert all(f"\n  {name}" in out for name in NAMES)
    assert max(map(len, out.splitlines())) <= 80


def test_every_command_has_its_own_name() -> None:
    """That of its module."""
    assert [command_named(name).name for name in NAMES] == NAMES


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["reference", "--jobs", "4", "--help"]])
def test_the_help_of_every_command_teaches(
    name: str, arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it does, examples, exit codes; within 80 columns; also beside arguments that are wrong."""
    monkeypatch.setenv("COLUMNS", "80")
    assert run([name, *arguments]) is Exit.PASS
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith(f"usage: retryproof {name}")
    assert "examples:\n" in out
    assert f"retryproof {name}" in out.partition("examples:")[2]
    assert "exit codes:\n  0 " in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("name", ["check", "signoff", "replay"])
def test_every_exit_code_is_explained_where_it_can_occur(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """All six; and that SIGTERM is like Ctrl-C."""
    run([name, "--help"])
    out = capsys.readouterr().out
    codes = re.findall(r"^  (\d+)  +[^ ]", out.partition("exit codes:")[2], re.MULTILINE)
    assert codes == [str(int(code)) for code in sorted(Exit)]
    assert "SIGTERM" in out


def test_the_version_is_the_one_that_reports_name(capsys: pytest.CaptureFixture[str]) -> None:
    """`--version` and `tool`."""
    assert run(["--version"]) is Exit.PASS
    assert capsys.readouterr().out == f"{tool()}\n"
    assert re.fullmatch(r"retryproof \d+\.\d+\.\d+", tool())


@pytest.mark.parametrize(
    ("codes", "code"),
    [
        ((0, 0), 0),
        ((0, 3), 3),
        ((3, 4, 0), 4),
        ((4, 1, 3), 1),
        ((1, 0, 130), 130),
        ((), 0),
    ],
)
def test_the_codes_of_several_subjects_join(codes: tuple[int, ...], code: int) -> None:
    """130, else 1, else 4, else 3, else 0; in whatever order they come."""
    assert joined(map(Exit, codes)) == joined(map(Exit, codes[::-1])) == code


def test_a_bug_of_ours_is_one_line_with_its_place(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 4 and no traceback, unless it is asked for."""
    monkeypatch.setattr("retryproof.dispatch.help_text", lambda: dict[str, str]()["gone"])
    monkeypatch.delenv("RETRYPROOF_TRACEBACK", raising=False)
    assert run(["--help"]) is Exit.COULD_NOT_RUN
    err = capsys.readouterr().err
    assert re.fullmatch(
        r"retryproof: internal error: KeyError\('gone'\) at .+\.py:\d+; .+RETRYPROOF_TRACEBACK=1.+\n", err
    )
    monkeypatch.setenv("RETRYPROOF_TRACEBACK", "1")
    with pytest.raises(KeyError, match="gone"):
        run(["--help"])


def test_the_installed_command_is_this_one() -> None:
    """The script that packaging makes calls the same main()."""
    script = Path(sys.executable).with_name("retryproof")
    done = subprocess.run([script, "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"{tool()}\n")
