"""A forwarder that runs already is judged at its URL as it would be if its file had started it."""

import asyncio
import shlex
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from fake_router.authority import write_authority
from fake_router.thread import RouterThread
from faults.plan import Plan, PlannedOperation
from signoff.report import load_report
from suites.driver import Driver
from suites.findings import Verdict
from suites.given import Given, url_subject
from suites.judge import judge
from suites.processes import ReservedPort
from suites.run import Run
from suites.standing import StandingSubject
from suites.subject_file import built_in_file, load_subject_file
from tests.command_process import Place
from tests.standing import Standing, standing
from tests.weak_forwarder import write_weak_forwarder

HOST = "127.0.0.1"
needs_nginx = pytest.mark.skipif(shutil.which("nginx") is None, reason="needs nginx")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(path=tmp_path)


@pytest.fixture
def weak(tmp_path: Path) -> Iterator[Standing]:
    """It passes a 503 on as a 502, and dies of a 500."""
    file = load_subject_file(tmp_path / write_weak_forwarder(tmp_path, "always"))
    with standing(file, tmp_path / "runs") as running:
        yield running


def verdicts(place: Place, *arguments: str, over_tls: bool = False) -> dict[str, tuple[object, ...]]:
    """What the newest report of that command says of each cell, over TLS or not; of one that only tells, the verdict.
    Those that are over TLS have their plain ids.
    """
    end = place.run("check", *arguments, "--out", "out", "--quiet")
    assert end.code in (0, 1), end.err
    report = load_report(place.folders()[-1] / "report.json")
    return {
        cell.id.removesuffix("/tls"): (cell.verdict,)
        if cell.tells
        else (cell.verdict, cell.attempts, cell.executions, cell.outcome, cell.status, cell.warnings)
        for cell in report.cells
        if cell.dimensions["tls"] is over_tls  # who started it cannot tell it to speak TLS for some runs
    }


@needs_nginx
@pytest.mark.parametrize(
    ("name", "only"), [("nginx", "[arc]*/*-[rd]*"), ("nginx:retry-non-idempotent", "[cw]*/[rf]*/first*")]
)
def test_nginx_gets_the_same_verdicts_by_url_and_by_file(place: Place, name: str, only: str) -> None:
    """Also where the fault is on one of two upstreams: nginx takes turns, and the run is repeated until it is met."""
    by_file = verdicts(place, name, "--only", only)
    with standing(built_in_file(name), place.path / "runs") as running:
        by_url = verdicts(place, running.url, *running.options(), "--only", only)
    assert by_url == by_file
    assert len(by_url) > 4


@needs_nginx
def test_one_that_speaks_tls_to_its_router_gets_the_verdicts_that_its_file_gets_over_tls(place: Place) -> None:
    """Every cell is over TLS then, also one whose certificate is flawed."""
    only = ("--only", "[tw]*/[cf]*e[dr]/first*")
    by_file = verdicts(place, "nginx", *only, over_tls=True)
    with standing(built_in_file("nginx"), place.path / "runs", tls=True) as running:
        by_url = verdicts(place, running.url, *running.options(), *only, over_tls=True)
    assert {id_: by_url.get(id_) for id_ in by_file} == by_file
    assert {"tls/certificate-expired/first-of-two", "wait/fin-after/first"} <= by_file.keys()


def test_a_small_forwarder_gets_the_same_verdicts_by_url_and_by_file(place: Place, weak: Standing) -> None:
    """One connection at a time, and no pool."""
    by_file = verdicts(place, "weak.toml", "--only", "status/50[23]-[ab]*/first")
    by_url = verdicts(place, weak.url, *weak.options(), "--only", "status/50[23]-[ab]*/first")
    assert by_url == by_file
    assert len(by_url) == 4


def test_a_server_of_futures_gets_the_same_verdicts_by_url_and_by_file(place: Place) -> None:
    """Submits, polls, and a poll that its caller leaves; a retry that it must not make is found."""
    only = ("--only", "*/[5s][0l][2o]*-[ai][fn]*/*[tn]")
    by_file = verdicts(place, "reference-server:blanket-5xx", *only)
    with standing(built_in_file("reference-server:blanket-5xx"), place.path / "runs") as running:
        by_url = verdicts(place, running.url, *running.options("idle=/healthz"), *only)
    assert by_url == by_file
    assert [by_file[id_][0] for id_ in ("status/502-after/first", "time/slow-inside/caller-fin")] == ["FAIL", "PASS"]


def test_a_url_in_a_file_is_the_same_subject(place: Place, weak: Standing) -> None:
    """So two of them can be held against each other."""
    for name in ("base", "candidate"):
        (place.path / f"{name}.toml").write_text(
            f"name = {name!r}\nurl = {weak.url!r}\nlisten = {list(weak.listen)!r}\nspeaks = 'openai-completions'\n"
            "promises = 'transparent'\nconnect_timeout_ms = 300\nread_timeout_ms = 300\nquiet_ms = 100\n"
        )
    end = place.run("signoff", "base.toml", "candidate.toml", "--only", "*/503-before/first", "--out", "out")
    assert (end.code, end.err) == (0, "")
    assert end.out.startswith("MAY SHIP base.toml -> candidate.toml: ")
    assert "base.toml  yes" in place.run("subjects", "base.toml").out


def test_a_fault_that_ends_it_ends_the_examination(place: Place, weak: Standing) -> None:
    """Nobody here can start it again: exit code 4, and what was found is written."""
    end = place.run("check", weak.url, *weak.options(), "--only", "*/500-before/first", "--out", "out")
    assert end.code == 4
    assert f"{weak.url} cannot be reached (Connection refused)" in end.err
    (cell,) = place.report().cells
    assert (cell.verdict, "survives" in {finding.check for finding in cell.findings}) == ("FAIL", True)


@needs_nginx
def test_what_a_failure_prints_replays_it(place: Place) -> None:
    """The options are printed with the URL."""
    with standing(built_in_file("nginx:retry-non-idempotent"), place.path / "runs") as running:
        end = place.run("check", running.url, *running.options(), "--only", "wait/fin-after/first", "--out", "out")
        (line,) = [line for line in end.out.splitlines() if line.startswith("replay  ")]
        words = shlex.split(line)
        again = place.run(*words[words.index("replay", 1) :])
    assert (end.code, again.code) == (1, 1)
    assert "\nFAIL\n" in again.out


def test_its_sockets_are_counted_on_this_machine_alone(
    monkeypatch: pytest.MonkeyPatch, place: Place, weak: Standing
) -> None:
    """Of one that runs elsewhere no leak is judged, and all else is."""
    given = Given(listen=weak.listen, speaks="openai-completions", promises="transparent", settings=("quiet_ms=100",))
    checks = {}
    for elsewhere in (False, True):
        if elsewhere:
            monkeypatch.setattr("suites.socket_counts.held_towards", lambda ports: ())
        run = asyncio.run(_healthy_run(weak.url, given))
        checks[elsewhere] = {finding.check for finding in judge(run).findings}
        assert judge(run).verdict is Verdict.PASS
    assert checks[False] - checks[True] == {"no-leak"}


async def _healthy_run(url: str, given: Given) -> Run:
    subject = StandingSubject(url_subject(url, given))
    with RouterThread() as routers:
        async with Driver(subject=subject, routers=routers) as driver:
            return await driver.run(Plan(operations=(PlannedOperation(),)))


@pytest.mark.parametrize(
    ("listen", "came"),
    [
        ("{host}:{unused}", "nobody connected; expected that it was told"),
        ("https://{host}:{port}", "it connected, and no handshake was made; expected that it speaks TLS"),
    ],
)
def test_who_does_not_reach_its_router_is_not_judged(place: Place, weak: Standing, listen: str, came: str) -> None:
    """Else every cell would fail for one mistake in the set-up: exit code 4, and what came instead."""
    unused = ReservedPort()
    unused.close()
    address = listen.format(host=HOST, unused=unused.number, port=weak.listen[0].rpartition(":")[2])
    write_authority(place.path / "ca.pem")
    options = [address if word == weak.listen[0] else word for word in weak.options()]
    options += ["--set", "listen_ca=ca.pem"] if "https" in address else []
    end = place.run("check", weak.url, *options, "--only", "*/503-before/first", "--out", "out")
    assert end.code == 4
    assert f"did not reach its router at {address.removeprefix('https://')}: {came}" in end.err
    assert "Its caller got " in end.err


def test_a_port_in_use_and_nobody_at_the_url_are_exit_code_4(place: Place, weak: Standing) -> None:
    """Each with one message that says what to do."""
    cell = ("--only", "*/503-before/first", "--out", "out")
    with socket.create_server((HOST, 0)) as taken:
        port = taken.getsockname()[1]
        listen = [f"{HOST}:{port}" if word == weak.listen[0] else word for word in weak.options("connect_timeout_ms=1")]
        end = place.run("check", weak.url, *listen, "--set", "read_timeout_ms=1", *cell)
        assert (end.code, f"{HOST}:{port} is in use" in end.message()) == (4, True)
    nobody = ReservedPort()
    url = f"http://{HOST}:{nobody.number}"
    end = place.run("check", url, *weak.options("connect_timeout_ms=1"), "--set", "read_timeout_ms=1", *cell)
    nobody.close()
    assert (end.code, f"{url} cannot be reached (Connection refused); expected" in end.message()) == (4, True)
