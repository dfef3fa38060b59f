"""`retryproof toxiproxy` says which server would be used and whether it is usable, in words that say what to do."""

import os
from pathlib import Path

import pytest

from tests.command_process import Place
from tests.real_toxiproxy import RealToxiproxy


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A folder, with a cache in which nothing is."""
    return Place(
        path=tmp_path, env={"XDG_CACHE_HOME": str(tmp_path / "cache"), "PATH": "/nowhere", "TOXIPROXY_URL": ""}
    )


@pytest.mark.parametrize("action", ["status", "path"])
def test_none_at_all_is_one_message(place: Place, action: str) -> None:
    """And exit code 4."""
    ended = place.run("toxiproxy", action)
    assert ended.code == 4
    assert ended.out == ""
    assert ended.message().startswith("no Toxiproxy: TOXIPROXY_URL is not set, no toxiproxy-server on PATH, none at ")
    assert "run `retryproof toxiproxy install`" in ended.message()


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("localhost", "TOXIPROXY_URL: 'localhost' is no URL of Toxiproxy's API; expected http://HOST:PORT"),
        ("http://127.0.0.1:1", "Toxiproxy at http://127.0.0.1:1 cannot be reached: "),
    ],
)
def test_a_wrong_url_is_one_message(place: Place, url: str, says: str) -> None:
    """And exit code 4."""
    place.env["TOXIPROXY_URL"] = url
    ended = place.run("toxiproxy", "status")
    assert (ended.code, ended.out) == (4, "")
    assert ended.message().startswith(says)


def test_an_install_that_fails_is_one_message(place: Place) -> None:
    """The step is told before; plain, where there is no terminal."""
    folder = place.path / "bin"
    folder.mkdir()
    (folder / "go").write_text('#!/bin/sh\n[ "$1" = version ] && echo go version go1.26.0\nexit 1\n')
    (folder / "go").chmod(0o755)
    place.env["PATH"] = str(folder)
    ended = place.run("toxiproxy", "install")
    assert ended.code == 4
    cache = place.path / "cache" / "retryproof" / "toxiproxy" / "2.12.0"
    assert ended.out == f"building Toxiproxy 2.12.0 with {folder / 'go'}; it is kept in {cache}\n"
    assert "did not make server; it wrote nothing" in ended.message()


def test_an_unknown_action_is_wrong_usage(place: Place) -> None:
    """Exit code 2."""
    ended = place.run("toxiproxy", "remove")
    assert ended.code == 2
    assert "'remove'" in ended.message()


@pytest.mark.toxiproxy
def test_a_server_that_stands_is_named_with_its_version(place: Place, real: RealToxiproxy) -> None:
    """It was really asked, and a connection came through it."""
    place.env["TOXIPROXY_URL"] = real.server.client.url
    ended = place.run("toxiproxy", "status")
    assert (ended.code, ended.err) == (0, "")
    said = dict(line.split(maxsplit=1) for line in ended.out.replace("would be", "would-be").splitlines())
    assert said["version"] == real.server.version
    assert said["usable"] == "yes: a connection came through it"
    assert real.server.client.url in ended.out
    assert place.run("toxiproxy", "path").out == f"{real.server.client.url}\n"
    assert os.listdir(place.path / "tmp") == []
