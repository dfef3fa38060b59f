"""The sides of a sign-off: a revision in git, a variant of a file, another virtual environment, an earlier report."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from retryproof.revisions import checked_out, in_revision
from tests.command_process import Ended, Place
from tests.weak_forwarder import write_weak_forwarder

ONE_CELL = ("--only", "status/503-before/first", "--out", "out")
RELAY = """
import socket, sys, threading
host, port, (router, of_router) = sys.argv[1], int(sys.argv[2]), sys.argv[3].split(":")
def copy(one, other):
    try:
        while data := one.recv(65536):
            other.sendall(data)
        other.shutdown(socket.SHUT_WR)
    except OSError:
        pass
server = socket.create_server((host, port))
while True:
    caller, upstream = server.accept()[0], socket.create_connection((router, int(of_router)))
    for pair in ((caller, upstream), (upstream, caller)):
        threading.Thread(target=copy, args=pair, daemon=True).start()
"""
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A folder of its own, in which no repository above is found."""
    return Place(path=tmp_path, env={"GIT_CEILING_DIRECTORIES": str(tmp_path.parent)})


def sign_off(place: Place, *arguments: str) -> Ended:
    return place.run("signoff", *arguments)


def written(place: Place) -> dict[str, Any]:
    """The only sign-off."""
    (path,) = (place.path / "out").glob("*-signoff-*/signoff.json")
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def subject(name: str, **values: str) -> str:
    """A file of the relay, which lies beside it."""
    keys = {
        "name": name,
        "command": ["{tool}", "{here}/relay.py", "{host}", "{port}", "{upstreams[0]}"],
        "speaks": "openai-completions",
        "promises": "transparent",
        "connect_timeout_ms": 300,
        "read_timeout_ms": 300,
        "quiet_ms": 100,
    }
    text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
    return text + "".join(f"[values]\n{key} = {json.dumps(value)}\n" for key, value in values.items())


def relay(folder: Path) -> None:
    """Write it there."""
    folder.mkdir(exist_ok=True)
    (folder / "relay.py").write_text(RELAY)


def commit(place: Place) -> None:
    identity = ("-c", "user.email=a@example.org", "-c", "user.name=a")
    for arguments in (("init", "-q"), ("add", "-A"), (*identity, "commit", "-q", "-m", "one")):
        subprocess.run(("git", *arguments), cwd=place.path, check=True)


@needs_git
def test_a_revision_of_a_file_is_held_against_the_file_as_it_is(place: Place) -> None:
    """With what lay beside it then; the repository stays as it is, and nothing is left of the revision."""
    relay(place.path / "proxies")
    (place.path / "proxies" / "proxy.toml").write_text(subject("old", tool=sys.executable))
    commit(place)
    (place.path / "proxies" / "relay.py").unlink()
    relay(place.path / "elsewhere")
    (place.path / "elsewhere" / "proxy.toml").write_text(subject("new", tool=sys.executable))
    status = ("git", "status", "--porcelain")
    before = subprocess.run(status, cwd=place.path, check=True, capture_output=True).stdout
    ended = sign_off(place, "HEAD:proxies/proxy.toml", "elsewhere/proxy.toml", *ONE_CELL)
    assert (ended.code, ended.err) == (0, "")
    found = written(place)
    sides = [(found[side]["named"], found[side]["subject"]["name"]) for side in ("base", "candidate")]
    assert sides == [("HEAD:proxies/proxy.toml", "old"), ("elsewhere/proxy.toml", "new")]
    report = next((place.path / "out").glob("*/base/report.json"))
    assert json.loads(report.read_text())["named"] == "HEAD:proxies/proxy.toml"
    (plan,) = (place.path / "out").glob("*/base/plans/*")
    again = place.run("replay", str(plan), "--subject", "HEAD:proxies/proxy.toml")
    assert (again.code, again.err) == (0, "")
    checked = place.run("check", "HEAD:proxies/proxy.toml", *ONE_CELL)
    assert (checked.code, checked.err) == (0, "")
    assert checked.out.startswith("PASS old ")
    shutil.rmtree(place.path / "out")
    after = subprocess.run(status, cwd=place.path, check=True, capture_output=True).stdout
    assert after.replace(b"?? tmp/\n", b"") == before
    assert place.temporary() == []


@needs_git
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("NOPE:proxy.toml", "no such revision"),
        ("HEAD:none.toml", "'none.toml' does not exist"),
        ("HEAD:proxy.toml:none", "HEAD:proxy.toml: variants is 'none'"),
    ],
)
def test_what_no_revision_holds_is_wrong_usage(place: Place, name: str, says: str) -> None:
    (place.path / "proxy.toml").write_text(subject("old", tool=sys.executable))
    commit(place)
    ended = sign_off(place, name, "proxy.toml", *ONE_CELL)
    assert ended.code == 2
    assert says in ended.message()
    assert place.temporary() == []


@needs_git
def test_outside_of_a_repository_a_revision_is_wrong_usage(place: Place) -> None:
    ended = sign_off(place, "HEAD:proxy.toml", "reference", *ONE_CELL)
    assert ended.code == 2
    assert "not a git repository" in ended.message()


@pytest.mark.parametrize(
    "name", ["reference:safe", "http://h:1/x.toml", "mine.toml:next", "module:callable", ":x.toml"]
)
def test_other_names_with_a_colon_are_no_revisions(name: str) -> None:
    assert in_revision(name) is None
    with checked_out([name]) as names:
        assert names == (name,)


def virtual_environment(place: Place, name: str, version: str) -> str:
    """A tiny one, in which a package of that version is installed. Returns its Python."""
    folder = place.path / name
    subprocess.run((sys.executable, "-m", "venv", "--without-pip", folder), check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / f"forwarder-{version}.dist-info").mkdir()
    (packages / f"forwarder-{version}.dist-info" / "METADATA").write_text(f"Name: forwarder\nVersion: {version}\n")
    return str(folder / "bin" / "python")


def test_two_versions_of_a_package_in_two_virtual_environments_are_two_variants(place: Place) -> None:
    """Each runs on the Python of its own environment, and says its version."""
    tools = [virtual_environment(place, f"venv-{version}", version) for version in ("1.0", "2.0")]
    relay(place.path)
    asks = ["{tool}", "-c", "from importlib.metadata import version; print(version('forwarder'))"]
    text = f"version = {json.dumps(asks)}\n{subject('proxy', tool=tools[0])}"
    (place.path / "proxy.toml").write_text(f"{text}[variants.next.values]\ntool = {json.dumps(tools[1])}\n")
    ended = sign_off(place, "proxy.toml", "proxy.toml:next", *ONE_CELL)
    assert (ended.code, ended.err) == (0, "")
    found = written(place)
    assert [found[side]["subject"]["version"] for side in ("base", "candidate")] == ["1.0", "2.0"]


@pytest.mark.parametrize(("dies", "code", "change"), [("always", 1, "regressed"), ("once", 3, "unproven")])
def test_a_candidate_that_a_fault_kills_has_regressed_if_it_does_so_again_alone(
    place: Place, dies: str, code: int, change: str
) -> None:
    relay(place.path)
    (place.path / "relay.toml").write_text(subject("relay", tool=sys.executable))
    weak = write_weak_forwarder(place.path, dies)
    ended = sign_off(place, "relay.toml", weak, "--only", "status/500-before/first", "--out", "out")
    assert (ended.code, ended.err) == (code, "")
    (cell,) = written(place)["cells"]
    assert (cell["change"], "exited with code 7" in cell["says"]) == (change, True)


def check(place: Place, name: str, *arguments: str) -> str:
    """The report of a check; returns its path."""
    assert place.run("check", name, "--quiet", "--out", "before", *arguments).code in (0, 1)
    (path,) = (place.path / "before").glob("*/report.json")
    return os.path.relpath(path, place.path)


def test_an_earlier_report_stands_in_for_the_base(place: Place) -> None:
    """Its own plans are run on the candidate, its drawn ones too; what it lacks is told."""
    report = check(place, "reference:safe", "--only", "[sd]*/[50]*", "--examples", "3", "--depth", "core")
    ended = sign_off(place, "reference:blanket-5xx", "--base", report, "--out", "out")
    assert (ended.code, ended.err) == (1, "")
    found = written(place)
    assert found["base"]["earlier"]
    folder = next((place.path / "out").iterdir())
    assert (folder / found["base"]["report"]).read_bytes() == (place.path / report).read_bytes()
    ids = [cell["id"] for cell in found["cells"]]
    assert ids == [cell["id"] for cell in json.loads((place.path / report).read_text())["cells"]]
    assert {"status/503-after/first", "drawn/0000", "drawn/0002"} <= set(ids)
    assert all(cell["base"]["plan"] == cell["candidate"]["plan"] for cell in found["cells"])
    assert any("the base lacks" in note for note in found["notes"])


def test_of_an_earlier_report_only_what_is_asked_for_is_compared(place: Place) -> None:
    report = check(place, "reference:safe", "--only", "status/503-*/first")
    ended = sign_off(place, "reference:safe", "--base", report, "--only", "*/503-after/*", "--out", "out")
    assert (ended.code, ended.err) == (0, "")
    assert [cell["id"] for cell in written(place)["cells"]] == ["status/503-after/first"]


def test_an_earlier_report_of_another_version_with_a_plan_that_nobody_knows(place: Place) -> None:
    """The cell is unproven, and both are told."""
    report = check(place, "reference:safe", "--only", "status/50[03]-after/first")
    data = json.loads((place.path / report).read_text())
    data["tool"] = "retryproof 0.0.1"
    data["cells"][0]["plan"]["operations"][0]["faults"] = ["gone"]
    (place.path / report).write_text(json.dumps(data))
    ended = sign_off(place, "reference:safe", "--base", report, "--out", "out")
    assert (ended.code, ended.err) == (3, "")
    found = written(place)
    assert found["counts"]["unproven"] == 1
    assert any("retryproof 0.0.1" in note for note in found["notes"])
    assert any("cannot be read any more: status/500-after/first" in note for note in found["notes"])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("reference",), "expected BASE and CANDIDATE"),
        (("reference", "reference", "--base", "r.json"), "expected CANDIDATE alone beside --base"),
        (("reference", "--base", "r.json", "--seed", "1"), "expected none of them"),
        (("reference", "--base", "r.json"), "this version of retryproof reads 1"),
        (("reference", "--base", "none.json"), "cannot read --base 'none.json'"),
        (("reference", "reference", "--allow", "none.toml"), "cannot read --allow 'none.toml'"),
        (("reference", "reference", "--allow", "r.json"), "expected TOML"),
    ],
)
def test_wrong_usage_says_what_was_expected_and_leaves_no_folder(
    place: Place, arguments: tuple[str, ...], says: str
) -> None:
    (place.path / "r.json").write_text('{"schema": 2}')
    ended = sign_off(place, *arguments)
    assert ended.code == 2
    assert says in ended.message()
    assert not (place.path / "retryproof-out").exists()
