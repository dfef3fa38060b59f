"""The servers that are measured beside each other, each in a process of its own and pinned to one core."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

HOST = "127.0.0.1"
ROOT = Path(__file__).parent.parent
TARGET = "/v1/completions"
_SCHEDULED = 2  # CPUCLOCK_SCHED: the scheduler's count, in nanoseconds

NGINX_CONF = """
master_process off;
daemon off;
pid {dir}/nginx.pid;
error_log stderr crit;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  keepalive_requests 1000000000;
  client_body_temp_path {dir}/body; proxy_temp_path {dir}/proxy; fastcgi_temp_path {dir}/fastcgi;
  uwsgi_temp_path {dir}/uwsgi; scgi_temp_path {dir}/scgi;
  default_type application/json;
  server {{ listen {host}:{port}; location / {{ return 200 '{body}'; }} }}
}}
"""

HTTPSERVER = """
import sys, threading
from pytest_httpserver import HTTPServer
with HTTPServer(host=sys.argv[1], port=int(sys.argv[2]), threaded=True) as server:
    server.expect_request(sys.argv[3]).respond_with_data(sys.stdin.read(), content_type="application/json")
    threading.Event().wait()
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server that listens, in one process. version: what it calls itself; empty for one of ours."""

    port: int
    process: "subprocess.Popen[bytes]"
    version: str = ""

    @property
    def cpu_s(self) -> float:
        """Seconds of CPU that it has had, user and kernel: by the clock that clock_getcpuclockid(3) names."""
        return time.clock_gettime((~self.process.pid << 3) | _SCHEDULED)


class MissingError(Exception):
    """A component is not installed, or did not start; the message says what to do."""


def need(*programs: str) -> None:
    """Raises MissingError for the first program that is not on the PATH."""
    for program in programs:
        if shutil.which(program) is None:
            raise MissingError(
                f"{program} is not on the PATH; expected it installed (Debian: apt-get install {program})"
            )


def said_by(*command: str) -> str:
    """The first line that it prints, wherever it does."""
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return ran.stdout.partition("\n")[0].strip()


@contextmanager
def pinned(core: int) -> Iterator[None]:
    """Processes that are started meanwhile run on that core alone."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def started(
    command: Sequence[str], *, core: int, stdin: bytes = b"", quiet: bool = False
) -> Iterator["subprocess.Popen[bytes]"]:
    """That process, on that core, until the block ends. quiet: what it logs is thrown away."""
    stderr = subprocess.DEVNULL if quiet else None
    with pinned(core):
        process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr)
    with process:
        assert process.stdin is not None
        process.stdin.write(stdin)
        process.stdin.close()
        try:
            yield process
        finally:
            process.terminate()


@contextmanager
def nginx(body: bytes, *, core: int) -> Iterator[Server]:
    """An nginx of one process that answers everything with that body."""
    with tempfile.TemporaryDirectory() as directory, free_port() as port:
        conf = Path(directory, "nginx.conf")
        conf.write_text(NGINX_CONF.format(dir=directory, host=HOST, port=port, body=body.decode()))
        with started(["nginx", "-p", directory, "-c", str(conf)], core=core) as process:
            wait_for(port, process)
            yield Server(port=port, process=process, version=said_by("nginx", "-v"))


@contextmanager
def httpserver(body: bytes, *, core: int) -> Iterator[Server]:
    """A pytest-httpserver that answers POSTs with that body. Raises MissingError."""
    if find_spec("pytest_httpserver") is None:
        raise MissingError("pytest-httpserver is not installed; expected it (pip install 'retryproof[bench]')")
    with free_port() as port:
        command = [sys.executable, "-c", HTTPSERVER, HOST, str(port), TARGET]
        with started(command, core=core, stdin=body, quiet=True) as process:
            wait_for(port, process)
            named = f"pytest-httpserver {version('pytest-httpserver')}"
            yield Server(port=port, process=process, version=named)


@contextmanager
def free_port() -> Iterator[int]:
    """A port that nobody else gets: bound and never listening; servers with SO_REUSEADDR bind over it."""
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind((HOST, 0))
        yield holder.getsockname()[1]


def wait_for(port: int, process: "subprocess.Popen[bytes]", within_s: float = 10.0) -> None:
    deadline = time.monotonic() + within_s
    while process.poll() is None and time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex((HOST, port)) == 0:
                return
        time.sleep(0.02)  # a foreign process gives no event when it listens
    raise MissingError(
        f"{process.args!r} did not listen on port {port} within {within_s:g} s; run it by hand to see why"
    )
