"""Docker Compose is a program of either kind: which one there is, and what it is told."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from suites.processes import Supervisor
from suites.stacks.composing import Composer
from suites.stacks.errors import StackError
from suites.stacks.variables import variables
from suites.way import Upstreams, Way


def program(folder: Path, name: str, script: str) -> None:
    """A program of that name on PATH."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_the_newer_kind_comes_first(path: Path) -> None:
    """`docker compose`, where it answers."""
    program(path, "docker", "exit 0")
    program(path, "docker-compose", "exit 0")
    words = Composer.find().words(Path("/a/compose.yaml"), "mine", "up", "-d")
    assert words == ["docker", "compose", "-p", "mine", "-f", "/a/compose.yaml", "up", "-d"]


def test_a_docker_without_the_plugin_leaves_the_older_kind(path: Path) -> None:
    """As Debian has it."""
    program(path, "docker", "exit 1")
    program(path, "docker-compose", "exit 0")
    assert Composer.find().words(Path("c.yaml"), "mine", "build")[:3] == ["docker-compose", "-p", "mine"]


def test_where_there_is_none_it_says_what_to_install(path: Path) -> None:
    """Also where a docker is there that knows no compose."""
    program(path, "docker", "exit 1")
    with pytest.raises(StackError, match=r"no Docker Compose: neither .*; install it: Debian's docker-compose"):
        Composer.find()


@pytest.mark.parametrize(
    ("command", "order"), [(("docker", "compose"), ["build"]), (("docker-compose",), ["build", "--force-rm"])]
)
def test_a_build_that_fails_leaves_no_container(command: tuple[str, ...], order: list[str]) -> None:
    """The older kind has to be told."""
    words = Composer(command=command).build_words(Path("c.yaml"), "mine")
    assert words == [*command, "-p", "mine", "-f", "c.yaml", *order]


async def test_what_it_writes_again_and_again_is_told_once(tmp_path: Path) -> None:
    """A line of progress ends in a carriage return; an error is written for the container and for its service."""
    said = await _said(
        tmp_path, "printf 'Creating it ...\\r\\rCreating it ... error\\r\\n\\nERROR: no\\nERROR: no\\n'; exit 1"
    )
    assert said.endswith("The last that it wrote:\nCreating it ...\nCreating it ... error\nERROR: no")


async def test_where_no_space_is_left_for_its_words_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has written nothing then, and fails for that very reason."""
    monkeypatch.setattr("shutil.disk_usage", lambda _folder: SimpleNamespace(free=0))
    said = await _said(tmp_path, "exit 1")
    assert said.endswith(f"No space is left in {str(tmp_path)!r}: free some, or name another folder in TMPDIR")


async def _said(folder: Path, script: str) -> str:
    program(folder, "composer", script)
    composer = Composer(command=(str(folder / "composer"),))
    words = composer.words(Path("c.yaml"), "mine", "up")
    async with Supervisor() as supervisor:
        with pytest.raises(StackError) as raised:
            await composer.run(supervisor, words, log=folder / "log", env={})
    return str(raised.value)


async def test_what_fails_is_told_with_its_last_words(tmp_path: Path) -> None:
    """And every line that it writes is heard of while it runs."""
    program(tmp_path, "composer", 'echo "$RETRYPROOF_PORT is taken"; exit 3')
    heard: list[str] = []
    composer = Composer(command=(str(tmp_path / "composer"),))
    words = composer.words(Path("c.yaml"), "mine", "up")
    async with Supervisor() as supervisor:
        with pytest.raises(StackError, match=r"exited with code 3; .*\n7 is taken") as raised:
            await composer.run(
                supervisor, words, log=tmp_path / "log", env={"RETRYPROOF_PORT": "7"}, on_line=heard.append
            )
    assert "-p mine -f c.yaml up" in str(raised.value)
    assert heard == ["7 is taken"]


def test_variables_say_which_port_is_whose(tmp_path: Path) -> None:
    """Of each upstream too, and what the way to them is."""
    led = Upstreams([("127.0.0.1", 5), ("127.0.0.1", 6)], way=Way(tls=True, max_connections=1), name_server=("h", 53))
    told = variables(led, {"RETRYPROOF_PORT": 7, "RETRYPROOF_PORT_ROUTER": 8}, tmp_path, "127.0.0.1")
    assert told == {
        "RETRYPROOF_PORT": "7",
        "RETRYPROOF_PORT_ROUTER": "8",
        "RETRYPROOF_DIR": str(tmp_path),
        "RETRYPROOF_HOST": "127.0.0.1",
        "RETRYPROOF_SCHEME": "https",
        "RETRYPROOF_MAX_CONNECTIONS": "1",
        "RETRYPROOF_NAME_SERVER": "h:53",
        "RETRYPROOF_UPSTREAM_0": "127.0.0.1:5",
        "RETRYPROOF_UPSTREAM_0_HOST": "127.0.0.1",
        "RETRYPROOF_UPSTREAM_0_PORT": "5",
        "RETRYPROOF_UPSTREAM_1": "127.0.0.1:6",
        "RETRYPROOF_UPSTREAM_1_HOST": "127.0.0.1",
        "RETRYPROOF_UPSTREAM_1_PORT": "6",
    }
