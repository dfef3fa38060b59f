"""A subject whose operations never reach its router is not judged: exit code 4, with what came instead."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command_process import Place, left_clean
from tests.weak_forwarder import write_weak_forwarder

# It turns down whoever says no key, and asks nobody.
SHUT = r"""
import socket
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("{host}", {port}))
listener.listen()
while True:
    caller, _ = listener.accept()
    with caller:
        if caller.recv(65536):
            caller.sendall(b"HTTP/1.1 401 No\r\nContent-Length: 9\r\nConnection: close\r\n\r\nsay a key")
"""
SUBJECT = f"""\
name = "shut"
command = ["{{python}}", "-I", "-S", "{{dir}}/shut.py", "{{upstreams[0]}}"]
speaks = "openai-completions"
promises = "transparent"
connect_timeout_ms = 300
read_timeout_ms = 300
quiet_ms = 50
files."shut.py" = '''{SHUT}'''
"""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """With a subject that is shut, and a forwarder; afterwards no process and no temporary file is left in it."""
    (tmp_path / "shut.toml").write_text(SUBJECT)
    write_weak_forwarder(tmp_path, "once")
    yield from left_clean(tmp_path)


CHAIN = "weak.toml+shut.toml"
FAULT = ("--only", "*/503-before/first")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_chain_that_reaches_no_router_is_refused(place: Place, jobs: str) -> None:
    """With how far its calls came, and what its caller got: nothing of it was judged."""
    ended = place.run("check", CHAIN, *FAULT, "--jobs", jobs, "--out", "out")
    assert (ended.code, ended.out) == (4, "")
    assert (
        "weak+shut was asked for a healthy operation, and it did not reach its router at 127.0.0.1:" in ended.message()
    )
    assert "nobody connected" in ended.message()
    assert "The first of them sent it 1 time to the second. Its caller got 401 'say a key'" in ended.message()
    assert (place.report().verdict, place.report().cells) == ("UNKNOWN", ())


@pytest.mark.parametrize("command", [("signoff", "reference", "shut.toml"), ("check", "shut.toml")])
def test_so_is_any_other_subject(place: Place, command: tuple[str, ...]) -> None:
    """However it is examined."""
    ended = place.run(*command, *FAULT, "--out", "out")
    assert (ended.code, ended.out) == (4, "")
    assert "shut was asked for a healthy operation, and it did not reach its router" in ended.message()


def test_a_plan_is_not_replayed_on_it(place: Place) -> None:
    """Its run would say what the plan does not."""
    (place.path / "plan.json").write_text('{"schema": 1, "operations": [{"faults": ["503-before"]}]}')
    ended = place.run("replay", "plan.json", "--subject", "shut.toml")
    assert (ended.code, "did not reach its router" in ended.message()) == (4, True)


def test_a_survey_publishes_nothing_of_it(place: Place) -> None:
    """It is named as one that could not run, with the reason."""
    words = ("--limit-s", "50", "--results", "results", "--docs", "docs", "--out", "out")
    ended = place.run("survey", CHAIN, *words)
    assert (ended.code, "0 of 1 configurations" in ended.out) == (4, True)
    assert ended.err.startswith(f"retryproof: {CHAIN}: weak+shut was asked for a healthy operation, and it did not")
    assert not (place.path / "results").exists()


def test_one_that_reaches_it_in_health_is_judged(place: Place) -> None:
    """It dies of a refused connection, so that nothing comes of its run: that is its own doing."""
    ended = place.run("check", "weak.toml", "--only", "connect/connect-refused/*", "--out", "out")
    assert (ended.code, ended.err) == (1, "")
    assert {(cell.verdict, cell.executions) for cell in place.report().cells} == {("FAIL", 0), ("not_run", 0)}


def test_one_that_dies_of_every_call_is_judged(place: Place) -> None:
    """As of any other death."""
    (place.path / "shut.toml").write_text(SUBJECT.replace("caller.sendall(", "raise SystemExit("))
    ended = place.run("check", "shut.toml", *FAULT, "--out", "out")
    assert (ended.code, ended.err) == (1, "")
    assert all("exited with code" in finding.says for cell in place.report().cells for finding in cell.findings[:1])
