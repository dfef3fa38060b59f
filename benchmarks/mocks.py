"""Servers that people mock routers with, warm and told to record nothing: where they are installed, else how to."""

import json
import shutil
import tempfile
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers import HOST, TARGET, MissingError, Server, free_port, httpserver, said_by, started, wait_for

JARS = "repository/org/wiremock/wiremock-standalone/*/wiremock-standalone-*.jar"  # of Maven, in ~/.m2
_MAVEN = "mvn dependency:get -Dartifact=org.wiremock:wiremock-standalone:3.13.1"
_START_S = 60.0  # a JVM on a busy machine


def wiremock_jar() -> Path:
    """The newest that Maven has fetched. Raises MissingError with the line that fetches it."""
    if shutil.which("java") is None:
        raise MissingError(
            "java is not on the PATH; expected it installed (Debian: apt-get install default-jre-headless)"
        )
    jars = sorted((Path.home() / ".m2").glob(JARS), key=lambda jar: jar.stat().st_mtime)
    if not jars:
        raise MissingError(f"WireMock is not installed; expected it fetched ({_MAVEN})")
    return jars[-1]


@contextmanager
def wiremock(body: bytes, *, core: int) -> Iterator[Server]:
    """A WireMock that answers POSTs with that body, without its journal of requests. Raises MissingError."""
    stub = {
        "request": {"method": "POST", "urlPath": TARGET},
        "response": {"status": 200, "body": body.decode(), "headers": {"Content-Type": "application/json"}},
    }
    jar = wiremock_jar()
    with tempfile.TemporaryDirectory() as directory, free_port() as port:
        mappings = Path(directory, "mappings")
        mappings.mkdir()
        Path(mappings, "post.json").write_text(json.dumps(stub))
        options = ["--port", str(port), "--bind-address", HOST, "--root-dir", directory]
        command = ["java", "-jar", str(jar), *options, "--no-request-journal", "--disable-banner"]
        with started(command, core=core, quiet=True) as process:
            wait_for(port, process, _START_S)
            yield Server(port=port, process=process, version=f"{jar.stem} on {said_by('java', '--version')}")


@contextmanager
def mountebank(body: bytes, *, core: int) -> Iterator[Server]:
    """A mountebank with one imposter that answers everything with that body and keeps connections. Raises
    MissingError.
    """
    if shutil.which("mb") is None:
        raise MissingError("mountebank is not on the PATH; expected it installed (npm install -g mountebank)")
    head = {"Content-Type": "application/json", "Connection": "keep-alive"}  # else it closes each
    stub = {"responses": [{"is": {"statusCode": 200, "headers": head, "body": body.decode()}}]}
    with free_port() as control, free_port() as port, tempfile.TemporaryDirectory() as directory:
        pid = str(Path(directory, "mb.pid"))
        options = ["--port", str(control), "--host", HOST, "--nologfile", "--loglevel", "error", "--pidfile", pid]
        with started(["mb", "start", *options], core=core, quiet=True) as process:
            wait_for(control, process, _START_S)
            imposter = {"protocol": "http", "port": port, "host": HOST, "stubs": [stub]}
            request = urllib.request.Request(f"http://{HOST}:{control}/imposters", json.dumps(imposter).encode())
            urllib.request.urlopen(request).close()
            yield Server(port=port, process=process, version=f"mountebank {said_by('mb', '--version')}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mock:
    """One of them. times: how many times its rate is expected. warm_cpu_s: when it is warm, in seconds of its CPU, its
    start included; a JVM compiles what it runs often.
    """

    start: Callable[..., AbstractContextManager[Server]]
    times: float
    warm_cpu_s: float


MOCKS: Mapping[str, Mock] = {
    "pytest-httpserver": Mock(start=httpserver, times=10.0, warm_cpu_s=2.0),
    "WireMock": Mock(start=wiremock, times=3.0, warm_cpu_s=14.0),
    "mountebank": Mock(start=mountebank, times=3.0, warm_cpu_s=5.0),
}
