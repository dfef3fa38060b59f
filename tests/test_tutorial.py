"""The tutorial is true: its files and its commands, in its order, print what it says."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.command_process import Place

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "tutorial.md").read_text()
DEADLINE_S = 120  # of one command: it says that something hangs, never that something is slow
LEFT_OUT = "..."
# A time of day; a rate; a number that an operation was given, and what depends on its digits.
VARIES = re.compile(r"\d{8}T\d{6}\.\d+Z|\d+(?:\.\d+)?(?= runs/s)|(?<=operation )\d+|\d+(?= bytes sent)")
# A line of a timeline: when, and which entries of the ledger; or the rest of one that was too long.
IN_TIMELINE = re.compile(r" *\d+\.\d +(?:\d+(?:-\d+)? +)?| {40,}")
JOINS = re.compile(r"exchange \d+: |,")


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What a reader types, and the lines that come of it."""

    typed: str
    prints: tuple[str, ...]


def files() -> Iterator[tuple[str, str]]:
    """Each file that the reader writes: its name, its text."""
    yield from re.findall(r"^`(\S+)`:\n\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def commands() -> Iterator[Command]:
    """All that is typed after the install, in order."""
    for block in re.findall(r"^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        for one in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            typed, *prints = one.splitlines()
            yield Command(typed=typed, prints=tuple(prints))


def stable(lines: Iterable[str]) -> str:
    """Without what differs from run to run. Of a timeline only the words, in their order: what is a millisecond apart
    is a line of its own, and what is closer is not.
    """
    kept: list[str] = []
    for line in lines:
        masked = VARIES.sub("#", line.rstrip())
        start = IN_TIMELINE.match(line)
        kept += [masked] if start is None else JOINS.sub("", masked[start.end() :]).split()
    return "\n".join(kept)


def says(printed: str, expected: tuple[str, ...]) -> bool:
    """The lines are those that are expected; one `...` stands for any number of them."""
    parts = stable(expected).split(LEFT_OUT)
    pattern = "(?:.*\n)*?(?:.*)".join(re.escape(part) for part in parts)
    return re.fullmatch(pattern, stable(printed.splitlines())) is not None


@pytest.fixture
def reader(tmp_path: Path) -> Place:
    """A folder with the files of the tutorial, and the command on the path."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "retryproof").write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m retryproof "$@"\n')
    (tools / "retryproof").chmod(0o755)
    (tmp_path / "tutorial").mkdir()
    for name, text in files():
        (tmp_path / "tutorial" / name).write_text(text)
    environment = {
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "GIT_CEILING_DIRECTORIES": str(tmp_path),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
    }
    return Place(path=tmp_path / "tutorial", env=environment)


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
@pytest.mark.alone
def test_every_command_of_the_tutorial_prints_what_it_says(reader: Place) -> None:
    """One after the other, in the folder that the reader has; also the exit codes."""
    code = 0
    typed = list(commands())
    assert sum("retryproof " in command.typed for command in typed) >= 4
    for command in typed:
        done = subprocess.run(
            ("bash", "-c", f"(exit {code}); {command.typed}"),
            cwd=reader.path,
            env=reader.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )
        code = done.returncode
        assert says(done.stdout, command.prints), f"$ {command.typed}\n{done.stdout}"


def test_the_tutorial_installs_as_the_readme_does() -> None:
    """What is not run here is the one block for a shell, and CI runs the same words."""
    (install,) = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    first = install.splitlines()[0].removesuffix(" && . .venv/bin/activate")
    assert f"{first} && .venv/bin/retryproof check\n" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize(
    ("printed", "expected", "same"),
    [
        ("one\ntwo\n", ("one", "two"), True),
        ("one\ntwo\n", ("one",), False),
        ("one\ntwo\nthree\n", ("one", "...", "three"), True),
        ("one\nthree\n", ("one", "...", "two"), False),
        ("zero\none\n", ("one",), False),
        ("seed 0, 5.6 runs/s\n", ("seed 0, 17.2 runs/s",), True),
        ("  2.9  3-4  exchange 1: one, two\n", (" 62.9  3  exchange 1: one", " 64.1  4  exchange 1: two"), True),
        ("  2.9  3-4  exchange 1: one, two\n", (" 62.9  3  exchange 1: two", " 64.1  4  exchange 1: one"), False),
        ("46 passed\n", ("45 passed",), False),
    ],
)
def test_only_what_varies_is_not_compared(printed: str, expected: tuple[str, ...], *, same: bool) -> None:
    assert says(printed, expected) is same
