"""What the machine or the subject refuses ends with exit code 4 and one message; what was recorded is kept."""

import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.command_process import Ended, Place, left_clean

HEALTHY = ("--only", "*/healthy/first")
ONE_CELL = ("check", "reference", *HEALTHY, "--out", "out")
NOWHERE = "/nowhere"  # a PATH on which nothing is installed


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A folder; afterwards no process and no temporary file is left in it."""
    yield from left_clean(tmp_path)


def limited(number: int, limit: int) -> Callable[[], None]:
    """For a child: one limit of it."""
    return lambda: resource.setrlimit(number, (limit, limit))


def write_subject(place: Place, *command: str, **keys: object) -> str:
    """A subject file; returns its name."""
    table = {
        "name": "mine",
        "command": list(command),
        "speaks": "openai-completions",
        "promises": "transparent",
        "connect_timeout_ms": 300,
        "read_timeout_ms": 300,
        "quiet_ms": 0,
        **keys,
    }
    text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in table.items())
    (place.path / "mine.toml").write_text(text)
    return "mine.toml"


def check(place: Place, *arguments: str, **options: Any) -> Ended:
    """`retryproof check` on one cell, into out/."""
    return place.run("check", *arguments, *HEALTHY, "--out", "out", **options)


def test_without_nginx_its_check_says_what_to_install(place: Place) -> None:
    """And leaves no folder: there is nothing to report."""
    ended = check(Place(path=place.path, env={"PATH": NOWHERE}), "nginx")
    assert (ended.code, ended.out) == (4, "")
    assert "no 'nginx' on PATH; install it: apt-get install nginx-light" in ended.message()


def test_without_nginx_the_listing_says_so_and_is_no_failure(place: Place) -> None:
    """Exit code 0: listing is what was asked for."""
    ended = Place(path=place.path, env={"PATH": NOWHERE}).run("subjects")
    assert (ended.code, ended.err) == (0, "")
    rows = {line.split()[0]: line.split()[1] for line in ended.out.splitlines() if line[0] != " "}
    assert (rows["nginx"], rows["nginx:retry-non-idempotent"]) == ("no", "no")
    assert (rows["reference"], rows["reference-server"]) == ("yes", "yes")
    assert "apt-get install nginx-light" in " ".join(ended.out.split())


SUBJECTS_THAT_DO_NOT_START = {
    "dies at start": (
        ("{python}", "-c", "print('no such model'); raise SystemExit(5)"),
        ("mine exited with code 5 before it was ready", "stays in the foreground", "no such model"),
    ),
    "never ready": (
        ("{python}", "-c", "import time; print('warming up', flush=True); time.sleep(600)"),
        ("mine was not ready within 400 ms", "raise `start_ms`", "warming up"),
    ),
    "no such program": (
        ("forwarder-of-dreams", "--listen", "{port}"),
        ("no 'forwarder-of-dreams' on PATH", "correct `command`"),
    ),
    "a path from where one stands": (
        ("./forwarder", "--listen", "{port}"),
        ("command './forwarder': it is started in a folder of its own; expected '{here}/forwarder'",),
    ),
}


NEVER_TRIED = ("no such program", "a path from where one stands")


@pytest.mark.parametrize("name", SUBJECTS_THAT_DO_NOT_START)
def test_a_subject_that_does_not_start_is_named_with_its_last_words(place: Place, name: str) -> None:
    """Its own words lead to the cause; the message leads to what to change. Once it was tried there is a partial report
    that says why, and is no PASS.
    """
    command, expected = SUBJECTS_THAT_DO_NOT_START[name]
    ended = check(place, write_subject(place, *command, start_ms=400))
    assert (ended.code, ended.out) == (4, "")
    assert [text for text in expected if text not in ended.message()] == []
    if name not in NEVER_TRIED:
        assert (place.report().verdict, place.report().cells) == ("UNKNOWN", ())
        assert expected[0] in place.report().partial
        assert str(place.folders()[0].relative_to(place.path) / "report.json") in ended.message()


def test_a_sign_off_cannot_run_when_either_side_cannot(place: Place) -> None:
    """Whichever it is."""
    command, _ = SUBJECTS_THAT_DO_NOT_START["dies at start"]
    mine = write_subject(place, *command)
    for sides in (("reference", mine), (mine, "reference")):
        ended = place.run("signoff", *sides, *HEALTHY, "--out", "out")
        assert (ended.code, ended.out) == (4, "")
        assert "exited with code 5" in ended.message()


def test_of_several_subjects_the_others_are_still_examined(place: Place) -> None:
    """4 beside 0 is 4; the summary names both."""
    command, _ = SUBJECTS_THAT_DO_NOT_START["dies at start"]
    ended = check(place, write_subject(place, *command), "reference")
    assert ended.code == 4
    assert "exited with code 5" in ended.message()
    assert "PASS reference" in ended.out
    summary = [line.split() for line in ended.out.splitlines()[-3:]]
    assert summary == [
        ["subject", "verdict", "passed", "failed", "unknown", "not", "run", "warnings"],
        ["mine.toml", "could", "not", "run"],
        ["reference", "PASS", "1", "0", "0", "0", "0"],
    ]


@pytest.mark.parametrize("what", ["--port", "--control-port"])
def test_a_port_in_use_is_named(place: Place, what: str) -> None:
    """Of an upstream, or of the control API."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = place.run("router", what, str(port))
    assert (ended.code, ended.out) == (4, "")
    assert str(port) in ended.err
    assert len(ended.err.splitlines()) == 1


def test_the_router_ends_in_good_order(place: Place) -> None:
    """0 after SIGTERM, 130 after Ctrl-C; one line on stdout, nothing on stderr."""
    for number, code in ((signal.SIGTERM, 0), (signal.SIGINT, 130)):
        with place.start("router", "--port", "0", "--port", "0") as process:
            assert process.stdout is not None
            assert len(json.loads(process.stdout.readline())["upstreams"]) == 2
            process.send_signal(number)
            out, err = process.communicate()
        assert (process.returncode, out, err) == (code, "", "")


def test_too_few_files_are_found_before_a_verdict_can_rest_on_them(place: Place) -> None:
    """A connect that fails for want of a descriptor would look like a router's fault."""
    ended = check(place, "reference", preexec_fn=limited(resource.RLIMIT_NOFILE, 64))
    assert (ended.code, ended.out) == (4, "")
    assert "64 files open; expected 512 or more" in ended.message()
    assert "ulimit -n 512" in ended.message()


def test_a_subject_whose_files_cannot_be_written_is_the_machine_s_refusal(place: Place) -> None:
    """Which is said, with the file and what to do."""
    mine = write_subject(place, "{python}", "{dir}/big")
    (place.path / mine).write_text(f"{(place.path / mine).read_text()}files.big = '''{'#' * 200_000}'''\n")
    (place.path / "plan.json").write_text('{"schema": 1, "operations": [{}]}')
    for command in (("check", mine, *HEALTHY, "--out", "out"), ("replay", "plan.json", "--subject", mine)):
        ended = place.run(*command, preexec_fn=limited(resource.RLIMIT_FSIZE, 100_000))
        assert (ended.code, ended.out) == (4, "")
        assert "this machine refused something: File too large" in ended.message()
        assert "ulimit -f" in ended.message()
        assert ("report.json" in ended.message()) == (command[0] == "check")


FULL = {"limit": 30_000, "tmpfs": 60}  # bytes of one file; kB of a file system


@pytest.mark.parametrize("how", ["limit", *(["tmpfs"] if os.geteuid() == 0 and shutil.which("unshare") else [])])
def test_on_a_full_disk_everything_that_was_recorded_stays_readable(place: Place, how: str) -> None:
    """One message, exit code 4; whole lines of the ledger, whole plans."""
    out = place.path / "out"
    out.mkdir()
    arguments = ("check", "reference", "--depth", "core", "--out", "out")
    if how == "tmpfs":
        mounted = f'mount -t tmpfs -o size={FULL[how]}k none out && "$@"; code=$?; cp -r out kept; exit $code'
        ended = place.run(*arguments, prefix=("unshare", "-m", "sh", "-c", mounted, "sh"))
        out.rmdir()
        (place.path / "kept").rename(out)
    else:
        ended = place.run(*arguments, preexec_fn=limited(resource.RLIMIT_FSIZE, FULL[how]))
    assert (ended.code, ended.out) == (4, "")
    assert "cannot write 'out/" in ended.message()
    assert "--out DIR" in ended.message()
    assert len(place.ledger()) > 10
    plans = list((place.folders()[0] / "plans").iterdir())
    assert plans
    assert all(json.loads(plan.read_text())["schema"] == 1 for plan in plans)


@pytest.mark.parametrize("out", ["file", "/proc/nothing/here"])
def test_an_output_folder_that_cannot_be_made_is_named(place: Place, out: str) -> None:
    """With the other place to name."""
    (place.path / "file").touch()
    ended = place.run("check", "reference", *HEALTHY, "--out", out)
    assert (ended.code, ended.out) == (4, "")
    assert f"cannot write '{out}/" in ended.message()


def test_a_full_standard_output_is_one_message(place: Place) -> None:
    """The report is written all the same."""
    with open("/dev/full", "w") as full:
        ended = check(place, "reference", stdout=full)
    assert ended.code == 4
    assert "cannot write to standard output: No space left on device" in ended.message()
    assert place.report().verdict == "PASS"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(("faults",), 0), (("--help",), 0), (("check", "--help"), 0), (ONE_CELL, 0)],
)
def test_a_reader_that_leaves_early_changes_no_exit_code(place: Place, arguments: tuple[str, ...], code: int) -> None:
    """As of `| head -1`: nothing on stderr, and the verdict is the verdict."""
    read, write = os.pipe()
    os.close(read)
    with place.start(*arguments, stdout=write) as process:
        os.close(write)
        assert (process.communicate()[1], process.returncode) == ("", code)


@pytest.mark.parametrize(("option", "there"), [("--json", "."), ("--out", "file"), ("--write", "file")])
def test_where_the_evidence_cannot_be_written_is_said_at_once(place: Place, option: str, there: str) -> None:
    """Before minutes are spent on what would be lost."""
    (place.path / "file").touch()
    ended = place.run("evidence", option, str(place.path / there))
    assert (ended.code, ended.out) == (4, "")
    assert f"/{there}'; expected" in ended.message().replace(f"{place.path}'", f"{place.path}/.'")


def test_a_router_whose_address_nobody_can_read_says_so(place: Place) -> None:
    """It would listen on ports that nobody knows."""
    with open("/dev/full", "w") as full:
        ended = place.run("router", stdout=full)
    assert ended.code == 4
    assert "cannot write to standard output where it listens: No space left on device; expected" in ended.err


def test_streams_that_were_closed_before_the_start_are_no_reason_to_crash(place: Place) -> None:
    """As of `>&- 2>&-`."""
    closed = 'exec "$@" >&- 2>&-'
    command = [sys.executable, "-m", "retryproof", "check", "reference", *HEALTHY, "--out", "out"]
    done = subprocess.run(["sh", "-c", closed, "sh", *command], cwd=place.path, env=place.environment(), check=False)
    assert done.returncode == 0
    assert place.report().verdict == "PASS"
