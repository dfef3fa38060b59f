"""How fast is the fake router, ledger on? `python -m benchmarks.router_rate` measures it against nginx, and against
those of pytest-httpserver, WireMock and mountebank that are installed; one core each, the same reply. It reads the
ledger back after every run.

Exit codes: 0 the router is fast enough and its ledger exact, 1 it is not, 4 a component is missing.

The count is exact: wrk's script counts each request that wrk writes, and each must be one Received entry. wrk's own
count is of answers; when it stops, each of its connections may have one request whose answer it has not read.

CPU a request is what a server's process used, user and kernel, for each answer: it says the same on a machine that
others use meanwhile, where rates do not.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.mocks import MOCKS
from benchmarks.peers import HOST, TARGET, MissingError, Server, need, nginx, pinned, said_by, started
from benchmarks.rates import Load, Rates
from fake_router.entries import Received
from fake_router.ledger import load
from fake_router.replies import body_of
from faults.vocabulary import Content

ROUNDS = 7
SECONDS = 1
CONNECTIONS = 64
OF_NGINX = 0.35
WARM_UP_S = 2
WARM_UPS = 25  # at most: by then it has had its CPU, or others have

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
        return _report(measure(Cores.chosen()))
    except MissingError as error:
        print(f"router_rate: {error}", file=sys.stderr)
        return 4


def measure(cores: Cores) -> Rates:
    """All of them in turns, on the same core. Raises MissingError where wrk or nginx is missing."""
    need("wrk", "nginx")
    _, body = body_of(Content.RESULT, None, 100_000, 1)
    found = Rates()
    with ExitStack() as stack:
        script = Path(stack.enter_context(tempfile.TemporaryDirectory()), "post.lua")
        script.write_text(SCRIPT)
        router, control = stack.enter_context(_router(cores.server))
        beside = stack.enter_context(nginx(body, core=cores.server))
        mocks = _mocks(stack, body, cores, script, found)
        print("beside " + "; ".join([said_by("wrk", "-v"), *(each.version for each in (beside, *mocks.values()))]))
        for number in range(1, ROUNDS + 1):
            _control(control, "reset")
            found.routers.append(_measured(script, router, cores.load))
            found.exact &= _is_exact(control, found.routers[-1], number)
            found.nginxes.append(_measured(script, beside, cores.load))
            for name, mock in mocks.items():
                found.mocks.setdefault(name, []).append(_measured(script, mock, cores.load))
    return found


def _mocks(stack: ExitStack, body: bytes, cores: Cores, script: Path, found: Rates) -> dict[str, Server]:
    """Those that are installed, warm."""
    servers = {}
    for name, mock in MOCKS.items():
        try:
            server = servers[name] = stack.enter_context(mock.start(body, core=cores.server))
        except MissingError as error:
            found.missing.append(str(error))
            continue
        if not _warmed_up(script, server, cores.load, mock.warm_cpu_s):
            found.cold.append(
                f"{name} had {server.cpu_s:.1f} s of CPU; expected {mock.warm_cpu_s:g}, on a quiet machine"
            )
    return servers


def _warmed_up(script: Path, server: Server, core: int, cpu_s: float) -> bool:
    """It has had so much CPU; False where it could not have it."""
    for _ in range(WARM_UPS):
        _wrk(script, server, core, WARM_UP_S)
        if server.cpu_s >= cpu_s:
            return True
    return False


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


def _wrk(script: Path, server: Server, core: int, seconds: int = SECONDS) -> Load:
    url = f"http://{HOST}:{server.port}{TARGET}"
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "-s", str(script), url]
    before_s = server.cpu_s
    with pinned(core):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    cpu_s = server.cpu_s - before_s
    if done.returncode != 0:
        raise MissingError(f"wrk failed: {done.stderr.strip() or done.stdout.strip()!r}; expected a run of {seconds} s")
    return Load(**json.loads(done.stdout.splitlines()[-1]), cpu_s=cpu_s)


def _measured(script: Path, server: Server, core: int) -> Load:
    run = _wrk(script, server, core)
    if not run.answered:
        raise SystemExit(
            f"{server.version or 'the fake router'} answered nothing in {SECONDS} s; expected a quiet machine"
        )
    return run


def _control(port: int, call: str) -> dict[str, int]:
    method = "GET" if call == "status" else "POST"
    with urllib.request.urlopen(urllib.request.Request(f"http://{HOST}:{port}/{call}", method=method)) as answer:
        return dict(json.load(answer))


def _is_exact(control: int, run: Load, number: int) -> bool:
    """Every request that wrk wrote was received once, and at most one a connection was not answered in time."""
    while _control(control, "status")["connections"]:
        time.sleep(0.01)  # the router is still reading what wrk left behind; the control port has no event for that
    with urllib.request.urlopen(f"http://{HOST}:{control}/ledger") as answer:
        received = sum(isinstance(entry, Received) for entry in load(answer.read()))
    in_flight = run.sent - run.answered
    exact = received == run.sent and 0 <= in_flight <= CONNECTIONS and run.errors == 0
    print(
        f"run {number}: ledger {received} received = {run.sent} written by wrk "
        f"= {run.answered} answered + {in_flight} in flight when it stopped ({run.errors} errors)"
        + ("" if exact else "   NOT EXACT")
    )
    return exact


def _report(found: Rates) -> int:
    for line in ("", *found.table()):
        print(line)
    ratios = found.ratios(OF_NGINX, {name: mock.times for name, mock in MOCKS.items()})
    for ratio in ratios:
        print(ratio.line)
    for ratio in ratios:
        if not ratio.met:
            print(f"not as expected: {ratio.says}; what one exchange costs: docs/performance.md")
    for line in found.cold:
        print(f"not warm, so that its ratio says too much: {line}", file=sys.stderr)
    for line in found.missing:
        print(f"not measured: {line}")
    print(f"the ledger's count is {'exact' if found.exact else 'NOT exact'} in every run")
    return 0 if found.exact and not found.cold and all(ratio.met for ratio in ratios) else 1


if __name__ == "__main__":
    sys.exit(main())
