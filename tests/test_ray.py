"""`--ray ADDRESS`: the same result as in one process, whatever becomes of the nodes; nothing is left on the cluster."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from suites.load.caller import READY
from suites.subject_file import BUILT_IN
from tests.command_process import Place, ended, wait_for_end, wait_for_ledger, wait_until
from tests.test_command_load import MIX
from tests.test_command_load_jobs import load_report, shown
from tests.test_jobs import same, told

pytestmark = pytest.mark.ray


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoNodes:
    """A cluster of two nodes with one CPU each, in a process of its own. folder: of its session."""

    address: str
    folder: Path
    process: "subprocess.Popen[str]"

    def kill_one(self) -> None:
        """By SIGKILL; its work is over when that is known."""
        self._order("kill")

    def add_one(self) -> None:
        """In the place of the one that was killed."""
        self._order("add")

    def wait_for_both(self, process: "subprocess.Popen[str]") -> None:
        """Until each node has a worker. The first waits for the second: a busy machine may take longer to start one
        than the other takes for all its plans.
        """
        held: set[int] = set()

        def both() -> bool:
            for pid in self.workers().keys() - held:
                os.kill(pid, signal.SIGSTOP)
                held.add(pid)
            return len(held) == 2

        wait_until(process, both)
        for pid in held:
            os.kill(pid, signal.SIGCONT)

    def processes(self, named: str = "") -> dict[int, str]:
        """All that were started by it, and have that in their command."""
        found = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal() and int(entry.name) != self.process.pid:
                with suppress(OSError):
                    command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    if f"RAY_TMPDIR={self.folder}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                        found[int(entry.name)] = command
        return {pid: command for pid, command in found.items() if named in command}

    def workers(self) -> dict[int, str]:
        """Worker processes of ours on its nodes."""
        return self.processes("retryproof.worker")

    def connected(self) -> int:
        """How many caller processes on its nodes have made their connections."""
        folders = [Path(command.split()[-1]) for command in self.processes("suites.load.caller").values()]
        return sum((folder / READY).exists() for folder in folders)

    def _order(self, order: str) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{order}\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n"


@pytest.fixture(scope="module")
def two_nodes() -> Iterator[TwoNodes]:
    """Afterwards no process of it is left, nor a file."""
    script = Path(__file__).with_name("ray_cluster.py")
    folder = Path(tempfile.mkdtemp(prefix="ray-", dir="/tmp"))  # what it is made for has long names
    with subprocess.Popen(
        (sys.executable, script, folder),
        cwd=folder,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdout is not None
        nodes = TwoNodes(address=process.stdout.readline().strip(), folder=folder, process=process)
        assert nodes.address
        yield nodes
        process.communicate(timeout=60)
    wait_for_end(nodes.processes())
    shutil.rmtree(folder)


@pytest.fixture
def place(tmp_path: Path, two_nodes: TwoNodes) -> Iterator[Place]:
    """A folder; afterwards no process is left in it or on the cluster, and no temporary file."""
    place = Place(path=tmp_path)
    yield place
    while left := place.processes() | two_nodes.workers() | two_nodes.processes("reaper.py"):
        wait_for_end(left)
    assert place.temporary() == []


def test_two_nodes_find_what_one_process_finds(place: Place, two_nodes: TwoNodes) -> None:
    """Also of a subject file that is nowhere but here, with a must that is broken; each node has a share."""
    shutil.copy(BUILT_IN / "nginx.toml", place.path / "mine.toml")
    arguments = ("check", "mine.toml:retry-non-idempotent", "--only", "status/50?-*/first", "--out")
    with place.start(*arguments, "out/ray", "--ray", two_nodes.address) as process:
        two_nodes.wait_for_both(process)
        ray = ended(process)
    one = place.run(*arguments, "out/one")
    assert (one.code, one.err) == (ray.code, ray.err) == (1, "")
    reports = [next((place.path / "out" / each).glob("*/report.json")) for each in ("one", "ray")]
    assert len(same(reports[0])) > 15
    assert same(reports[0]) == same(reports[1])
    assert told(reports[0]) == told(reports[1])


MINE = """\
async def call(request, urls):
    return {}
"""


def test_what_a_node_lacks_is_said_with_its_name(place: Place, two_nodes: TwoNodes) -> None:
    """A module that is nowhere but here: exit code 4, before a plan is lived through."""
    (place.path / "mine_alone.py").write_text(MINE)
    end = place.run(
        "check", "mine_alone:call", "--only", "status/500-*/first", "--ray", two_nodes.address, "--out", "out"
    )
    assert (end.code, end.out) == (4, "")
    address = two_nodes.address.rpartition(":")[0]
    where, _, what = end.message().partition("): ")
    assert where.startswith(f"on {address} (node ")
    assert what.startswith(
        "subject 'mine_alone:call': there is no module 'mine_alone'; expected one that can be imported"
    )


def test_an_interrupted_command_leaves_nothing_on_the_cluster(place: Place, two_nodes: TwoNodes) -> None:
    """130, one message, and a partial report with what the nodes had handed on."""
    with place.start("check", "reference", "--depth", "core", "--ray", two_nodes.address, "--out", "out") as process:
        wait_for_ledger(process, place, 40)
        process.send_signal(signal.SIGINT)
        end = ended(process)
    assert (end.code, end.out) == (130, "")
    assert end.message().startswith("interrupted; ")
    report = place.report()
    assert (report.partial, bool(report.cells)) == ("interrupted", True)
    wait_for_end(two_nodes.processes("ray::Actor"))


def test_a_cluster_that_is_not_there_ends_it(place: Place) -> None:
    """Exit code 4, as soon as nothing listens at the address."""
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{reserved.getsockname()[1]}"
        end = place.run("check", "reference", "--only", "status/500-*/first", "--ray", address, "--out", "out")
    assert (end.code, end.out) == (4, "")
    assert end.message().startswith(f"--ray {address}: ")
    assert "expected the address of a Ray cluster that this machine belongs to" in end.message()
    assert not (place.path / "out").exists()


def test_callers_on_two_nodes_find_what_those_of_one_process_find(place: Place, two_nodes: TwoNodes) -> None:
    """The same operations are struck, and run twice; each node has some of the callers."""
    (place.path / "mix.toml").write_text(MIX)
    arguments = ("load", "reference:blanket-5xx", "--in-flight", "8", "--faults", "mix.toml", "--json", "--out", "out")
    with place.start(*arguments, "--ray", two_nodes.address) as process:
        wait_until(process, lambda: len(two_nodes.processes("suites.load.caller")) == 2)
        ray = ended(process)
    one = place.run(*arguments)
    assert (one.code, one.err) == (ray.code, ray.err) == (1, "")
    assert shown(ray.out) == shown(one.out)
    assert load_report(ray.out).steps[0].strikes


def test_a_load_whose_node_was_killed_begins_again_on_the_others(place: Place, two_nodes: TwoNodes) -> None:
    """Half way; it says so, and its verdict is that of a load that nobody disturbed."""
    arguments = ("load", "reference", "--in-flight", "4", "--operations", "12", "--mode", "engine:2,1", "--json")
    with place.start(*arguments, "--ray", two_nodes.address, "--out", "out") as process:
        wait_until(process, lambda: two_nodes.connected() == 2)
        two_nodes.kill_one()
        end = ended(process)
    assert "the load of 4 in flight begins again" in end.message()
    assert end.code == 0
    (step,) = load_report(end.out).steps
    assert (step.succeeded, step.executions, step.layout.callers) == (12, 12, 2)
    two_nodes.add_one()


def test_what_a_killed_node_has_left_is_lived_through_on_another(place: Place, two_nodes: TwoNodes) -> None:
    """Half way: the result is that of one process. The last test, since the node stays away."""
    arguments = ("check", "reference", "--only", "wait/*", "--out", "out")
    with place.start(*arguments, "--ray", two_nodes.address) as process:
        two_nodes.wait_for_both(process)
        wait_for_ledger(process, place, 30)
        assert len(two_nodes.workers()) == 2
        two_nodes.kill_one()
        end = ended(process)
    assert (end.code, end.err) == (0, "")
    whole = place.run(*arguments)
    assert whole.code == 0
    assert same(place.folders()[0] / "report.json") == same(place.folders()[1] / "report.json")
