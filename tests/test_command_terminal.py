"""What a person sees: a bar on a terminal alone, plain lines elsewhere, the verdict first, and nothing cut or lost."""

import fcntl
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import termios
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.command_process import DEADLINE_S, Ended, Place
from tests.weak_forwarder import write_weak_forwarder

ESCAPE = "\x1b"
PASSING = ("check", "reference", "--only", "status/50[03]-*/first", "--out", "out")
FAILING = ("check", "reference:blanket-5xx", "--only", "status/50[03]-*/first", "--out", "out dir")


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Place, Ended]:
    """One failing check, printed plainly at 80 columns, into a folder whose name has a space."""
    place = Place(path=tmp_path_factory.mktemp("failed"), env={"COLUMNS": "80"})
    return place, place.run(*FAILING)


def on_terminal(place: Place, *arguments: str) -> tuple[int, str]:
    """Run it on a terminal of its own; the exit code, and all that was shown."""
    leader, follower = pty.openpty()
    with place.start(*arguments, stdout=follower, stderr=follower, stdin=follower) as process:
        os.close(follower)
        shown = _rest_of(leader)
    return process.returncode, shown.decode()


def _until_some_are_done(leader: int) -> bytes:
    """All that is shown until the bar counts."""
    shown = b""
    while not re.search(rb" [1-9]\d*/\d+", shown.replace(b"\x1b[32m", b"")):
        shown += os.read(leader, 65536)
    return shown


def _rest_of(leader: int) -> bytes:
    """All that is shown until nobody has the other end any more."""
    shown = b""
    while select.select([leader], [], [], DEADLINE_S)[0]:
        try:
            shown += os.read(leader, 65536)
        except OSError:  # EIO
            break
    os.close(leader)
    return shown


def _own_terminal() -> None:
    """In the child: its standard input is its controlling terminal, as a login shell's is."""
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.mark.parametrize("closes", [False, True])
def test_ctrl_c_at_a_terminal_and_a_terminal_that_is_closed_interrupt(tmp_path: Path, closes: bool) -> None:
    """Both while the bar is shown: 130, a partial report, and the cursor is back where somebody looks."""
    place = Place(path=tmp_path, env={"TERM": "xterm"})
    leader, follower = pty.openpty()
    streams: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), follower)
    arguments = ("check", "reference", "--depth", "core", "--out", "out")
    with place.start(*arguments, **streams, preexec_fn=_own_terminal) as process:
        os.close(follower)
        shown = _until_some_are_done(leader)
        if closes:
            os.close(leader)
        else:
            os.write(leader, b"\x03")
            shown += _rest_of(leader)
    assert process.returncode == 130
    assert place.report().partial == "interrupted"
    assert (place.processes(), place.temporary()) == ({}, [])
    if not closes:
        assert f"{ESCAPE}[?25h" in shown.decode()
        assert "retryproof: interrupted; " in shown.decode()


def test_errors_go_to_stderr_also_while_a_bar_is_shown(tmp_path: Path) -> None:
    """Whoever redirects it finds them there, and the terminal holds the bar alone."""
    place = Place(path=tmp_path, env={"TERM": "xterm"})
    leader, follower = pty.openpty()
    with place.start("check", "reference", "--depth", "core", "--out", "out", stdout=follower) as process:
        os.close(follower)
        shown = _until_some_are_done(leader)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        assert process.stderr is not None
        said = process.stderr.read()
        shown += _rest_of(leader)
    assert "retryproof: cleaning up" in said
    assert b"retryproof" not in shown


def test_a_terminal_shows_a_bar_and_colours(tmp_path: Path) -> None:
    """The bar counts cells, and is gone in the end."""
    code, shown = on_terminal(Place(path=tmp_path, env={"TERM": "xterm"}), *PASSING)
    assert code == 0
    assert "examining reference" in shown
    assert re.search(r"\d/\d", shown)
    assert f"{ESCAPE}[32mPASS{ESCAPE}[0m reference" in shown
    assert f"{ESCAPE}[2K" in shown, "the line of the bar is erased"


@pytest.mark.parametrize("env", [{"TERM": "dumb"}, {"TERM": "xterm", "NO_COLOR": "1"}])
def test_a_plain_terminal_is_respected(tmp_path: Path, env: dict[str, str]) -> None:
    """NO_COLOR: no colour; a dumb one: neither colour nor a bar."""
    code, shown = on_terminal(Place(path=tmp_path, env=env), *PASSING)
    assert code == 0
    assert not re.search(rf"{ESCAPE}\[[0-9;]*3\dm", shown)
    assert ("examining" in shown) == ("NO_COLOR" in env)
    assert (ESCAPE in shown) == ("NO_COLOR" in env)


@pytest.mark.parametrize("env", [{}, {"FORCE_COLOR": "1", "TERM": "xterm"}])
def test_without_a_terminal_there_are_plain_lines(tmp_path: Path, env: dict[str, str]) -> None:
    """No escape, no bar, no space at the end of a line; the verdict is the first line, the report the last."""
    place = Place(path=tmp_path, env=env)
    ended = place.run(*PASSING)
    lines = ended.out.splitlines()
    assert (ended.code, ended.err) == (0, "")
    assert ESCAPE not in ended.out
    assert "examining" not in ended.out
    assert all(line == line.rstrip() for line in lines)
    assert lines[0].startswith("PASS reference (")
    assert lines[-1] == f"report: {place.folders()[0].relative_to(tmp_path) / 'report.json'}"


@pytest.mark.parametrize("arguments", [PASSING, FAILING])
def test_quiet_prints_nothing_but_errors(tmp_path: Path, arguments: Sequence[str]) -> None:
    """Also on a terminal: the exit code and the report say the rest."""
    code, shown = on_terminal(Place(path=tmp_path), *arguments, "--quiet")
    assert (code, shown) == (int(arguments is FAILING), "")


def test_a_locale_that_lacks_a_character_is_no_reason_to_crash(tmp_path: Path) -> None:
    """It is written in what the locale has."""
    place = Place(path=tmp_path, env={"PYTHONIOENCODING": "ascii"})
    (tmp_path / write_weak_forwarder(tmp_path, "once")).rename(tmp_path / "façade.toml")
    ended = place.run("subjects", "façade.toml")
    assert (ended.code, ended.err) == (0, "")
    assert "fa\\xe7ade.toml" in ended.out


def test_a_failure_says_all_that_a_reader_needs(failed: tuple[Place, Ended]) -> None:
    """Groups by broken checks with every cell; then invariant, what was shown, the timeline, and how to replay."""
    _, ended = failed
    text = ended.out
    assert (ended.code, ended.err) == (1, "")
    order = [
        "FAIL reference:blanket-5xx (",
        "FAIL at-most-once, safe-retry: ",
        "  status/503-retry-after-after/first ",
        "FAIL safe-retry: ",
        "  status/500-before/first ",
        "invariant  No operation is executed twice. (at-most-once)",
        "showed     operation ",
        "-- armed --",
        "EXECUTED",
        "-- healed --",
        "replay     ",
        "are replayed like these",
        "faults, planned/struck/judged:",
        "report: ",
    ]
    places = [text.find(part) for part in order]
    assert -1 not in places, order[places.index(-1)]
    last = text.index("invariant")
    assert sorted(places[:5]) == places[:5] < [last]
    assert sorted(places[-3:]) == places[-3:]


def test_at_80_columns_only_what_must_be_copied_is_longer(failed: tuple[Place, Ended]) -> None:
    """The headline, folders and commands are one line each; all else is folded, and no id is."""
    long = [line for line in failed[1].out.splitlines() if len(line) > 80]
    assert all(re.match(r"FAIL reference:blanket-5xx|replay     |  out dir/|report: ", line) for line in long), long
    report = failed[0].path.glob("out dir/*/report.json")
    assert len(list(report)) == 1


def test_the_replay_command_works_when_it_is_pasted(failed: tuple[Place, Ended]) -> None:
    """As a shell reads it, from the same folder, quoted where it must be."""
    place, ended = failed
    commands = re.findall(r"^replay     (.+)$", ended.out, re.MULTILINE)
    assert len(commands) == 2, "one of each kind of failure"
    assert "'out dir/" in commands[0]
    assert shlex.split(commands[0])[:3] == [sys.executable, "-m", "retryproof"]
    done = subprocess.run(
        ["sh", "-c", commands[0]],
        cwd=place.path,
        env=place.environment(),
        text=True,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert re.search(r"^FAIL$", done.stdout, re.MULTILINE)
