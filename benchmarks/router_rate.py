"""How fast is the fake router, ledger on? `python -m benchmarks.router_rate` measures it against nginx and
pytest-httpserver, one core each, the same reply, and reads the ledger back after every run.

Exit codes: 0 the router is fast enough and its ledger exact, 1 it is not, 4 a component is missing.

The count is exact: wrk's script counts each request that wrk writes, and each must be one Received entry. wrk's own
count is of answers; when it stops, each of its connections may have one request whose answer it has not read.

CPU a request is what a server's process used, user and kernel, for each answer: it says the same on a machine that
others use meanwhile, where rates do not.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from benchmarks.peers import HOST, TARGET, MissingError, Server, httpserver, need, nginx, pinned, started
from benchmarks.ratio import ratio_of
from fake_router.entries import Received
from fake_router.ledger import load
from fake_router.replies import body_of
from faults.vocabulary import Content

PAIRS = 7
SECONDS = 2
CONNECTIONS = 64
OF_NGINX = 0.25
OF_HTTPSERVER = 10.0
HTTPSERVER_RUNS = 3

# `request` is called once more before the run, when wrk looks whether the script's requests are well-formed.
SCRIPT = """
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"model":"m","prompt":"Say hello","max_tokens":16}'
sent = -1
local thread0
function setup(thread) thread0 = thread end
function init(args) text = wrk.format() end
function request() sent = sent + 1; return text end
function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format('{"answered":%d,"sent":%d,"us":%d,"errors":%d}\\n', summary.requests, thread0:get("sent"),
    summary.duration, e.connect + e.read + e.write + e.status + e.timeout))
end
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What wrk says of one run, and the CPU that the server used meanwhile."""

    answered: int
    sent: int
    us: int
    errors: int
    cpu_s: float

    @property
    def rate(self) -> float:
        """Answers per second."""
        return self.answered / (self.us / 1e6)

    @property
    def cpu_us(self) -> float:
        """Microseconds of CPU for each answer."""
        return self.cpu_s * 1e6 / self.answered


@dataclass(frozen=True, slots=True, kw_only=True)
class Cores:
    """The core of the server, and that of the load generator: another one where there is one."""

    server: int
    load: int

    @staticmethod
    def chosen() -> "Cores":
        """The first and the last core that this process may use."""
        allowed = sorted(os.sched_getaffinity(0))
        return Cores(server=allowed[0], load=allowed[-1])


def main() -> int:
    """Measure, print a table, and say in the exit code whether it is enough."""
    try:
        need("wrk", "nginx")
        if find_spec("pytest_httpserver") is None:
            raise MissingError("pytest-httpserver is not installed; expected it (pip install 'retryproof[bench]')")
        return _measured(Cores.chosen())
    except MissingError as error:
        print(f"router_rate: {error}", file=sys.stderr)
        return 4


def _measured(cores: Cores) -> int:
    _, body = body_of(Content.RESULT, None, 100_000, 1)
    routers: list[Load] = []
    nginxes: list[Load] = []
    https: list[Load] = []
    exact = True
    with ExitStack() as stack:
        script = Path(stack.enter_context(tempfile.TemporaryDirectory()), "post.lua")
        script.write_text(SCRIPT)
        router, control = stack.enter_context(_router(cores.server))
        beside = stack.enter_context(nginx(body, core=cores.server))
        http = stack.enter_context(httpserver(body, core=cores.server))
        for pair in range(PAIRS):
            _control(control, "reset")
            routers.append(_wrk(script, router, cores.load))
            exact &= _is_exact(control, routers[-1], pair)
            nginxes.append(_wrk(script, beside, cores.load))
            if pair < HTTPSERVER_RUNS:
                https.append(_wrk(script, http, cores.load))
    return _report(routers, nginxes, https, exact=exact)


@contextmanager
def _router(core: int) -> Iterator[tuple[Server, int]]:
    """A fake router, and its control port."""
    with started([sys.executable, "-m", "fake_router"], core=core) as process:
        assert process.stdout is not None
        addresses = json.loads(process.stdout.readline() or b"{}")
        if not addresses:
            raise MissingError("the fake router did not start; run `python -m fake_router` to see why")
        server = Server(port=_port_of(addresses["upstreams"][0]), process=process)
        yield server, _port_of(addresses["control"])


def _port_of(address: str) -> int:
    return int(address.rpartition(":")[2])


def _wrk(script: Path, server: Server, core: int) -> Load:
    url = f"http://{HOST}:{server.port}{TARGET}"
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s", "-s", str(script), url]
    before_s = server.cpu_s
    with pinned(core):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    cpu_s = server.cpu_s - before_s
    if done.returncode != 0:
        raise MissingError(f"wrk failed: {done.stderr.strip() or done.stdout.strip()!r}; expected a run of {SECONDS} s")
    return Load(**json.loads(done.stdout.splitlines()[-1]), cpu_s=cpu_s)


def _control(port: int, call: str) -> dict[str, int]:
    method = "GET" if call == "status" else "POST"
    with urllib.request.urlopen(urllib.request.Request(f"http://{HOST}:{port}/{call}", method=method)) as answer:
        return dict(json.load(answer))


def _is_exact(control: int, run: Load, pair: int) -> bool:
    """Every request that wrk wrote was received once, and at most one a connection was not answered in time."""
    while _control(control, "status")["connections"]:
        time.sleep(0.01)  # the router is still reading what wrk left behind; the control port has no event for that
    with urllib.request.urlopen(f"http://{HOST}:{control}/ledger") as answer:
        received = sum(isinstance(entry, Received) for entry in load(answer.read()))
    in_flight = run.sent - run.answered
    exact = received == run.sent and 0 <= in_flight <= CONNECTIONS and run.errors == 0
    print(
        f"run {pair + 1}: ledger {received} received = {run.sent} written by wrk "
        f"= {run.answered} answered + {in_flight} in flight when it stopped ({run.errors} errors)"
        + ("" if exact else "   NOT EXACT")
    )
    return exact


def _report(routers: list[Load], nginxes: list[Load], https: list[Load], *, exact: bool) -> int:
    print(f"\n{'server':20}{'requests/s':>12}{'lowest':>10}{'highest':>10}{'CPU us/request':>16}{'runs':>6}")
    for name, runs in {"fake router": routers, "nginx": nginxes, "pytest-httpserver": https}.items():
        rates = [run.rate for run in runs]
        cpu_us = statistics.median(run.cpu_us for run in runs)
        print(
            f"{name:20}{statistics.median(rates):12.0f}{min(rates):10.0f}{max(rates):10.0f}{cpu_us:16.1f}{len(runs):6}"
        )
    of_nginx = statistics.median(r.rate / n.rate for r, n in zip(routers, nginxes, strict=True))
    times_cpu = statistics.median(r.cpu_us / n.cpu_us for r, n in zip(routers, nginxes, strict=True))
    of_https = statistics.median(run.rate for run in routers) / statistics.median(run.rate for run in https)
    print(f"\nmedian of {PAIRS} pairs: {of_nginx:.2f} of nginx (expected at least {OF_NGINX})")
    print(f"for a request {times_cpu:.1f} times the CPU of nginx")
    print(f"{of_https:.1f} times pytest-httpserver (expected at least {OF_HTTPSERVER:g})")
    print(f"the ledger's count is {'exact' if exact else 'NOT exact'} in every run")
    pairs = [r.rate / n.rate for r, n in zip(routers, nginxes, strict=True)]
    print(ratio_of("requests a second of the fake router, to nginx", pairs, least=OF_NGINX).line)
    print(ratio_of("requests a second of the fake router, to pytest-httpserver", [of_https], least=OF_HTTPSERVER).line)
    return 0 if exact and of_nginx >= OF_NGINX and of_https >= OF_HTTPSERVER else 1


if __name__ == "__main__":
    sys.exit(main())
