"""An ordinary user gets a verdict too: what needs a capability is listed with the reason, and --strict counts it."""

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from fake_router.kernel import can_watch_packets
from tests.command_process import COMMAND, Ended, Place, ended, wait_for_end

ROOT = Path(__file__).parent.parent
NOBODY = 65534
NEEDS_CAPABILITY = "connect/connect-refused/first-of-two"
REASON = "a refused connect beside a healthy upstream is seen only by a packet socket: needs CAP_NET_RAW"
CORE = ("--depth", "core", "--out", "out")

# In a mount namespace of its own: the interpreter, its packages and ours where nobody may read them.
AS_NOBODY = """
set -e
cd {place}
mkdir -p python packages ours
mount --bind {python} python; mount --bind {packages} packages; mount --bind {ours} ours
exec setpriv --reuid={nobody} --regid={nobody} --clear-groups --inh-caps=-all \\
    env PYTHONPATH=$PWD/ours:$PWD/packages LD_LIBRARY_PATH=$PWD/python/lib python/bin/{name} "$@"
"""


def can_become_nobody() -> bool:
    """Whether this is root, with the right to mount."""
    tools = all(map(shutil.which, ("setpriv", "unshare")))
    return tools and os.geteuid() == 0 and subprocess.run(["unshare", "-m", "true"], check=False).returncode == 0


def as_ordinary_user(place: Place, *arguments: str) -> Ended:
    """The command without any capability: as nobody where that is possible, else as ourselves, who have none."""
    if not can_become_nobody():
        assert not can_watch_packets(), "this user has CAP_NET_RAW and cannot give it up"
        return place.run(*arguments)
    script = AS_NOBODY.format(
        place=place.path,
        python=sys.base_prefix,
        packages=sysconfig.get_path("purelib"),
        ours=ROOT,
        nobody=NOBODY,
        name=f"python{sys.version_info.major}.{sys.version_info.minor}",
    )
    command = ["unshare", "-m", "sh", "-c", script, "sh", *COMMAND[1:], *arguments]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=place.environment(), text=True, **pipes) as process:  # type: ignore[call-overload]
        return ended(process)


@pytest.fixture
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A folder that anybody may write, and that every folder above lets anybody reach."""
    folder = Path("/tmp") / f"retryproof-test-{os.getpid()}-{tmp_path_factory.mktemp('users').name}"
    folder.mkdir()
    folder.chmod(0o777)
    (folder / "tmp").mkdir()
    (folder / "tmp").chmod(0o777)
    place = Place(path=folder)
    yield place
    wait_for_end(place.processes())
    assert place.temporary() == []
    shutil.rmtree(folder)


@pytest.mark.parametrize(("strict", "code"), [((), 0), (("--strict",), 3)])
def test_what_needs_a_capability_is_not_run_and_says_so(place: Place, strict: tuple[str, ...], code: int) -> None:
    """Exit code 0, with the reason; under --strict it was not proved: 3."""
    end = as_ordinary_user(place, "check", "reference", *CORE, *strict)
    assert (end.code, end.err) == (code, "")
    cells = {cell.id: cell for cell in place.report().cells}
    told = {id_ for id_, cell in cells.items() if cell.verdict not in ("PASS", "FAIL")}
    assert told == {NEEDS_CAPABILITY}
    assert REASON in cells[NEEDS_CAPABILITY].reason
    assert "CAP_NET_RAW" in end.out
    assert ("not run: 1 cell: " in end.out) == (not strict)


@pytest.mark.skipif(shutil.which("nginx") is None, reason="needs nginx")
def test_an_ordinary_user_can_examine_a_process_too(place: Place) -> None:
    """A foreign subject needs no right that its own user lacks."""
    end = as_ordinary_user(place, "check", "nginx", *CORE)
    assert (end.code, end.err) == (0, "")
    assert place.report().counts["not_run"] == 1
