"""A server of ours is there when it is needed and gone afterwards; what is none says so in one error."""

import asyncio
import os
import select
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from faults.toxics import Latency
from suites.processes import Supervisor
from suites.toxiproxy import server as server_module
from suites.toxiproxy.answers import Proxy
from suites.toxiproxy.client import ToxiproxyClient
from suites.toxiproxy.errors import MissingToxiproxyError, NotToxiproxyError, ToxiproxyError, UnreachableError
from suites.toxiproxy.last_words import half_way
from suites.toxiproxy.server import ToxiproxyServer
from suites.toxiproxy.source import URL_VARIABLE, Image, Missing, Program, Standing, cached_program, find_source
from suites.way import Address
from tests.real_toxiproxy import DEADLINE_S, RealToxiproxy

real_server = pytest.mark.toxiproxy


def script(path: Path, text: str) -> Path:
    """An executable shell script."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_the_url_comes_first_then_path_then_the_cache(tmp_path: Path) -> None:
    """And a docker image last; without any, what was looked for and what to do is said."""
    there = {"PATH": str(tmp_path / "bin"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    (tmp_path / "bin").mkdir()
    docker = script(
        tmp_path / "bin" / "docker", '[ "$*" = "image inspect --format {{.Id}} ghcr.io/shopify/toxiproxy:2.12.0" ]'
    )
    assert find_source(there) == Image(name="ghcr.io/shopify/toxiproxy:2.12.0")
    cached = cached_program(there)
    cached.parent.mkdir(parents=True)
    script(cached, "")
    assert find_source(there) == Program(path=cached)
    on_path = script(tmp_path / "bin" / "toxiproxy-server", "")
    assert find_source(there) == Program(path=on_path)
    assert find_source({**there, URL_VARIABLE: "http://h:1"}) == Standing(url="http://h:1")
    for gone in (docker, cached, on_path):
        gone.unlink()
    missing = find_source(there)
    assert isinstance(missing, Missing)
    assert f"none at {cached}, and as to Docker: it is not on PATH; run `retryproof toxiproxy inst" in missing.says


def test_a_relative_cache_folder_is_ignored(tmp_path: Path) -> None:
    """As the XDG Base Directory Specification says."""
    assert cached_program({"XDG_CACHE_HOME": "here", "HOME": str(tmp_path)}).is_relative_to(tmp_path / ".cache")


async def test_missing_is_its_own_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to do."""
    monkeypatch.setattr(server_module, "find_source", lambda: Missing(looked="none", to_do="install it"))
    async with Supervisor() as supervisor:
        with pytest.raises(MissingToxiproxyError, match="no Toxiproxy: none; install it"):
            async with ToxiproxyServer.open(supervisor):
                pass


@pytest.mark.parametrize(
    ("program", "says"),
    [
        ("echo what is this; exit 3", r"exited with code 3 before it was ready\. .*\nwhat is this"),
        ("echo 'Server finished with error'; exec sleep 60", r"could not listen before .*\nServer finished with error"),
        ("exec sleep 60", r"did not answer within 0 s before it was ready\. It wrote nothing"),
    ],
)
async def test_a_program_that_is_no_server_is_one_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, says: str
) -> None:
    """With the last that it wrote; nothing of it is left."""
    if "within" in says:
        monkeypatch.setattr(server_module, "START_S", 0.05)
    source = Program(path=script(tmp_path / "toxiproxy-server", program))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    async with Supervisor() as supervisor:
        with pytest.raises(ToxiproxyError, match=says):
            async with ToxiproxyServer.open(supervisor, source):
                pass
    assert os.listdir(tmp_path) == ["toxiproxy-server"]


async def test_a_program_that_cannot_be_executed_is_one_error(tmp_path: Path) -> None:
    """It names the file."""
    (tmp_path / "toxiproxy-server").write_text("")
    async with Supervisor() as supervisor:
        with pytest.raises(ToxiproxyError, match="did not start: the command could not be executed: Permission denied"):
            async with ToxiproxyServer.open(supervisor, Program(path=tmp_path / "toxiproxy-server")):
                pass


async def test_an_image_is_run_by_docker_on_the_hosts_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On loopback, on a free port; its container is removed."""
    script(tmp_path / "docker", f'echo "$*" >{tmp_path}/said; exit 1')
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    async with Supervisor() as supervisor:
        with pytest.raises(ToxiproxyError, match=r"the Docker image image:1\) exited with code 1"):
            async with ToxiproxyServer.open(supervisor, Image(name="image:1")):
                pass
    assert (tmp_path / "said").read_text().startswith("run --rm --network host image:1 -host 127.0.0.1 -port ")


@real_server
async def test_a_server_that_stands_keeps_what_is_not_ours(real: RealToxiproxy) -> None:
    """Our proxies are gone at the end, also after an error; it lives on."""
    theirs = real.proxy().name
    seen: set[str] = set()

    async def fail_in_the_middle() -> None:
        source = Standing(url=real.server.client.url)
        async with Supervisor() as supervisor, ToxiproxyServer.open(supervisor, source) as server:
            await server.add_proxy(("127.0.0.1", 9))
            seen.update(await server.client.proxies())
            raise KeyError

    before = set(real.run(real.server.client.proxies()))
    with pytest.raises(KeyError):
        await fail_in_the_middle()
    assert len(seen - before) == 1
    assert theirs in set(real.run(real.server.client.proxies())) == before


@real_server
async def test_a_server_that_passes_nothing_to_us_is_refused(
    real: RealToxiproxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one in another network namespace, whose loopback is not ours."""
    create = ToxiproxyClient.create

    async def create_elsewhere(client: ToxiproxyClient, name: str, upstream: Address, *, listen: Address) -> Proxy:
        return await create(client, name, upstream, listen=listen, enabled=False)

    monkeypatch.setattr(ToxiproxyClient, "create", create_elsewhere)
    async with Supervisor() as supervisor:
        with pytest.raises(NotToxiproxyError, match="expected it in the same network namespace"):
            async with ToxiproxyServer.open(supervisor, Standing(url=real.server.client.url)):
                pass


@pytest.mark.parametrize(
    ("wrote", "says"),
    [
        ('{"level":"info","message":"Started proxy"}\n{"level":"error","message":"connection refused"}\n', ""),
        ('{"level":"info"}\npanic: nil map\n\ngoroutine 7\nmain.main()\nmore\n', "\npanic: nil map\n\ngoroutine 7"),
        ('{"level":"fatal","message":"no room"}\n', '\n{"level":"fatal","message":"no room"}'),
    ],
)
def test_of_a_death_half_way_only_its_cause_is_quoted(tmp_path: Path, wrote: str, says: str) -> None:
    """News of its work says nothing about it."""
    (tmp_path / "log").write_text(wrote)
    assert half_way("exited with code 2", tmp_path / "log") == "exited with code 2, half way" + says


@real_server
async def test_a_server_that_is_killed_half_way_is_one_error(real: RealToxiproxy) -> None:
    """It says how it ended, whatever was asked of it."""
    source = real.server.source
    async with Supervisor() as supervisor, ToxiproxyServer.open(supervisor, source) as server:
        proxy = await server.add_proxy(("127.0.0.1", 9))
        os.kill(_server_under(supervisor.pid), signal.SIGKILL)
        with pytest.raises(UnreachableError, match="was killed by SIGKILL, half way"):
            await server.client.lay(proxy, Latency(latency_ms=1))


@real_server
def test_a_server_is_gone_after_its_owner_was_killed(real: RealToxiproxy, tmp_path: Path) -> None:
    """And so is its folder."""
    del real
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER],
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        text=True,
    )
    assert owner.stdout is not None
    with owner.stdout:
        port, reaper = map(int, owner.stdout.readline().split())
    pidfds = [os.pidfd_open(pid) for pid in (_server_under(reaper), reaper)]
    assert list(tmp_path.iterdir())
    owner.kill()
    owner.wait()
    for pidfd in pidfds:
        assert select.select([pidfd], [], [], DEADLINE_S)[0]
        os.close(pidfd)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))


OWNER = """if True:
    import asyncio
    from suites.processes import Supervisor
    from suites.toxiproxy.server import ToxiproxyServer

    async def main():
        async with Supervisor() as supervisor, ToxiproxyServer.open(supervisor) as server:
            proxy = await server.add_proxy(("127.0.0.1", 9))
            print(proxy.listen[1], supervisor.pid, flush=True)
            await asyncio.Event().wait()

    asyncio.run(main())
"""


def _server_under(reaper: int) -> int:
    for name in os.listdir("/proc"):
        with suppress(OSError, ValueError):
            fields = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
            if int(fields[1]) == reaper:
                return int(name)
    raise AssertionError(f"{reaper} has no child")


@real_server
async def test_two_servers_do_not_meet(real: RealToxiproxy) -> None:
    """Each has a port of its own, and names that the other does not use; both are gone before their supervisor."""
    source = real.server.source
    async with Supervisor() as supervisor:
        async with ToxiproxyServer.open(supervisor, source) as one, ToxiproxyServer.open(supervisor, source) as other:
            ours, theirs = await asyncio.gather(one.add_proxy(("127.0.0.1", 9)), other.add_proxy(("127.0.0.1", 9)))
            assert ours.name != theirs.name
            assert set(await one.client.proxies()) == {ours.name}
        with pytest.raises(UnreachableError):
            await one.client.version()
