"""Stacks on a real engine: the same verdicts as without one, and nothing left behind, whatever ends a run."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.catalogue import DISTURBANCES
from faults.disturbance import Disturb
from faults.poison import Moment
from signoff.report import load_report
from suites.futures.checks import CHECKS
from suites.futures.situations import OF_CONTAINERS
from suites.stacks.shaping import lacks
from tests.command_process import Ended, Place, wait_for_end
from tests.docker_engine import ROOT, Docker, compose, docker_here, ended_by, image_of, run

pytestmark = pytest.mark.docker
CLOCKED = {f"futures/{check.name}" for check in CHECKS if check.needs_clock or check.needs_room}
CORE = ("check", "--stack", "nginx", "--depth", "core")
TWICE = (
    "import socket, sys; sys.excepthook = lambda *it: print(it[1]); "
    'here = socket.create_server(("127.0.0.1", 0)); socket.create_server(here.getsockname())'
)
ACTS = {id_: fault.act for id_, fault in DISTURBANCES.items() if isinstance(fault.act, Disturb)}
UNSHAPED = {id_ for id_, act in ACTS.items() if act.how.queueing is not None and lacks(act.how.queueing)}
BROKEN = """
services:
  forwarder:
    image: {image}
    network_mode: host
    command: {command}
    labels: {{retryproof.role: forwarder, retryproof.like: nginx, retryproof.start_ms: 4000}}
"""


@pytest.fixture(scope="module")
def docker() -> Docker:
    """The engine."""
    return docker_here()


@pytest.fixture
def place(tmp_path: Path, docker: Docker) -> Iterator[Place]:
    """A folder beside the stacks of the source; afterwards nothing of it is left, on the engine neither."""
    (tmp_path / "compose").symlink_to(ROOT / "compose")
    place = Place(path=tmp_path)
    yield place
    wait_for_end(place.processes())
    assert docker.of_ours() == []
    assert place.temporary() == []


def found(place: Place) -> dict[str, object]:
    """By cell and drawn plan of the only examination: the verdict, what was decided, and what each check said."""
    return {
        cell.id: (
            (cell.verdict, cell.attempts, cell.accepted, cell.executions, cell.outcome, cell.status),
            [(finding.check, finding.kind, finding.verdict) for finding in cell.findings],
        )
        for cell in place.report().cells
    }


def shown(place: Place, ended: Ended) -> str:
    """What a check printed, and of each cell that did not pass how it went and what was found."""
    if not place.folders():
        return ended.err
    cells = [cell for cell in place.report().cells if cell.verdict not in ("PASS", "not_run")]
    facts = [(cell.id, cell.verdict, cell.outcome, cell.delay_ms, cell.runs, cell.stalled) for cell in cells]
    said = [finding for cell in cells for finding in cell.findings]
    return "\n".join(map(str, (ended.err, *facts, *said, ended.out)))


def test_nginx_in_a_container_gets_the_verdicts_of_nginx(place: Place, tmp_path: Path) -> None:
    """Cell by cell and plan by plan, those over TLS included: the same decisions, and the same findings."""
    other = Place(path=tmp_path / "without")
    other.path.mkdir()
    these = ("--only", "wait/fin-*", "--examples", "6")
    ended = run(place, "check", "--stack", "nginx", *these, "--lanes", "4")
    assert (ended.code, run(other, "check", "nginx", *these).code) == (0, 0), ended.err
    assert found(place) == found(other)
    assert any("tls" in cell for cell in found(place))


def test_each_fault_of_a_container_strikes_with_its_witness(place: Place) -> None:
    """On a network of its own the reference server passes every one."""
    ended = run(place, "check", "--stack", "vllm", "--own-network", "--only", "container/*")
    assert ended.code == 0, shown(place, ended)
    cells = place.report().cells
    assert {cell.fault for cell in cells if cell.verdict == "PASS"} == set(DISTURBANCES) - UNSHAPED
    assert all("this kernel lays no" in cell.reason for cell in cells if cell.verdict != "PASS")
    struck = [line["entry"] for line in place.ledger() if line["entry"]["entry"] == "Struck"]
    assert {entry["witness"] for entry in struck} == {"engine"}
    assert len(struck) >= len(DISTURBANCES) - len(UNSHAPED)


def test_futures_survive_what_is_done_to_the_containers_of_their_router_and_of_their_server(place: Place) -> None:
    """Paused, killed, moved and all else; then both at once: every property that can be shown without a clock holds."""
    ended = run(place, "check", "--stack", "vllm", "--own-network", "--only", "futures/*", "--depth", "core")
    assert ended.code == 0, (ended.out, ended.err)
    report = place.report()
    shown = {name for name, count in report.situations.items() if count}
    assert {*OF_CONTAINERS, "restarted on its store", "killed with polls waiting"} <= shown
    assert {cell.id for cell in report.cells if cell.verdict != "PASS"} <= CLOCKED


def test_on_the_host_s_network_nobody_is_taken_off_it(place: Place) -> None:
    """Those cells are not run, with the reason; the others are, with Toxiproxy on each hop of the stack."""
    ended = run(place, "check", "--stack", "toxiproxy", "--only", "container/*-before/*", "--lanes", "2")
    assert ended.code == 0, ended.err
    reached = {id_ for id_, act in ACTS.items() if act.at is Moment.CONNECT and not act.needs_network}
    assert {cell.fault for cell in place.report().cells if cell.verdict == "PASS"} == reached


def test_a_toxic_strikes_behind_a_router_in_a_container(place: Place) -> None:
    """Toxiproxy stands between vLLM's router and its workers."""
    ended = run(place, "check", "--stack", "vllm", "--under", "timeout", "--only", "*/timeout-closed-executed/first*")
    assert ended.code == 0, (ended.out, ended.err)


def test_ctrl_c_leaves_nothing(place: Place, docker: Docker) -> None:
    """Not even of what was being brought up, nor the network on which it was to stand."""
    ended = ended_by(signal.SIGINT, place, lambda: len(docker.of_ours()) > 2, *CORE, "--own-network")
    assert ended.code == 130, ended.err


def test_what_a_killed_run_left_is_removed_by_the_next_one(place: Place, docker: Docker) -> None:
    """It says so."""
    ended_by(signal.SIGKILL, place, lambda: bool(docker.of_ours()), *CORE)
    wait_for_end(place.processes())
    left = docker.of_ours()
    assert left
    for leaf in (place.path / "tmp").iterdir():
        leaf.rename(place.path / leaf.name)  # a folder of the killed one's, which nobody can know for his
    ended = run(place, "check", "--stack", "nginx", "--only", "wait/fin-before/first", "--lanes", "1")
    assert ended.code == 0, ended.err
    assert f"removed what runs that were killed had left: {', '.join(sorted(set(left)))}" in ended.err


@pytest.mark.parametrize(
    ("image", "command", "says"),
    [
        ("{nginx}", "[sh, -c, 'echo no such thing; exit 3']", "its forwarder exited with code 3 before it was ready"),
        ("{nginx}", "[sleep, '60']", "was not ready within 4000 ms"),
        ("retryproof-no-such-image", "[sleep, '60']", "expected that it succeeds"),
        ("{nginx}", f"[python3, -c, {TWICE!r}]", "A port is taken. Several instances stand side by side"),
    ],
)
def test_a_stack_that_does_not_come_up_says_why(place: Place, image: str, command: str, says: str) -> None:
    """In one message, with what its containers wrote."""
    text = BROKEN.format(image=image.format(nginx=image_of("nginx")), command=command)
    ended = run(place, "check", compose(place, "broken", text), "--only", "wait/fin-before/first")
    assert ended.code == 4
    message = ended.err.partition("building the images")[2]
    assert says in message
    assert "Traceback" not in message
    if "no such thing" in command:
        assert "no such thing" in message
        assert [path.read_text() for path in place.path.glob("out/*/logs/forwarder.log")] == ["no such thing\n"]


def test_no_engine_is_said_in_one_message(place: Place) -> None:
    """With what to do."""
    other = Place(path=place.path, env={"DOCKER_HOST": "unix:///nowhere/docker.sock"})
    ended = run(other, "check", "--stack", "nginx", "--only", "wait/fin-before/first")
    assert ended.code == 4
    assert "no Docker engine answers" in ended.message()
    assert "DOCKER_HOST" in ended.message()


def test_two_compose_files_are_signed_off(place: Place) -> None:
    """The one that sends again what it may not is refused."""
    stacks = ROOT / "compose"
    text = (stacks / "nginx" / "compose.yaml").read_text().replace("context: ..", f"context: {stacks}")
    base = compose(place, "base", text)
    candidate = compose(place, "next", text.replace("like: nginx", "like: nginx:retry-non-idempotent"))
    only = ("--only", "wait/fin-after/first", "--lanes", "1")
    ended = run(place, "signoff", base, candidate, *only)
    assert ended.code == 1, ended.err
    (folder,) = place.folders()
    assert json.loads((folder / "signoff.json").read_text())["verdict"] == "BLOCK"
    assert load_report(folder / "base" / "report.json").verdict == "PASS"
