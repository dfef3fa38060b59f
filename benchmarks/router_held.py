"""What does a held exchange cost the fake router? `python -m benchmarks.router_held` holds 131,072 at once, each on a
connection of its own, in as many router processes as it takes; then it releases them.

It reads what is resident in the routers' processes before and after, ledger included. Exit codes: 0 no more than
expected, and each was answered once; 1 not so; 4 a process here may have too few files.
"""

import json
import resource
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from benchmarks.peers import HOST, ROOT, MissingError
from benchmarks.ratio import ratio_of
from fake_router.account import Account
from fake_router.content import prompt_tokens
from suites.load.usage import resident_in

HELD = 131_072
A_PROCESS = 16_384
SPARE_FILES = 500
AT_MOST_KB = 20.0
_LONG_S = 300.0
_ANSWER_BYTES = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class Router:
    """A fake router that holds what it gets, in a process of its own."""

    port: int
    control: str
    process: "subprocess.Popen[bytes]"

    def call(self, method: str, path: str) -> bytes:
        """What its control port answers."""
        request = urllib.request.Request(f"http://{self.control}{path}", method=method)
        with urllib.request.urlopen(request, timeout=_LONG_S) as answer:
            return bytes(answer.read())

    def held(self) -> int:
        """How many exchanges it holds."""
        return int(json.loads(self.call("GET", "/status"))["held"])

    def resident_bytes(self) -> int:
        """What is resident of its process and shared with nobody."""
        return resident_in(Path(f"/proc/{self.process.pid}/statm").read_text())


def main(arguments: list[str] | None = None) -> int:
    """Measure, and say in the exit code whether it is little enough."""
    words = sys.argv[1:] if arguments is None else arguments
    if words:
        port, first = map(int, words)
        print(_called(port, range(first, first + A_PROCESS)))
        return 0
    try:
        return _measured()
    except MissingError as error:
        print(f"router_held: {error}", file=sys.stderr)
        return 4


def _called(port: int, operations: range) -> int:
    """How many of these operations were answered, each on a connection of its own, all of them open at once."""
    waiting = []
    for operation in operations:
        body = msgspec.json.encode({"model": "m", "prompt": prompt_tokens(operation), "max_tokens": 16})
        head = f"POST /v1/completions HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: {len(body)}\r\n\r\n"
        waiting.append(socket.create_connection((HOST, port), timeout=_LONG_S))
        waiting[-1].sendall(head.encode() + body)
    return sum(sock.recv(_ANSWER_BYTES).startswith(b"HTTP/1.1 200") for sock in waiting)


def _measured() -> int:
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if files < A_PROCESS + SPARE_FILES:
        raise MissingError(f"{files} files a process; expected {A_PROCESS + SPARE_FILES} (ulimit -Hn)")
    with ExitStack() as stack:
        routers = [stack.enter_context(_router()) for _ in range(HELD // A_PROCESS)]
        assert [router.held() for router in routers] == [0] * len(routers)  # what the control API takes once, it has
        empty = [router.resident_bytes() for router in routers]
        firsts = range(1, HELD, A_PROCESS)
        callers = [stack.enter_context(_caller(router, n)) for router, n in zip(routers, firsts, strict=True)]
        while sum(router.held() for router in routers) < HELD:
            if any(caller.poll() is not None for caller in callers):
                raise RuntimeError("a caller has ended before its operations were held; its words are above")
            time.sleep(0.2)  # the control port has no event for that
        grown_kb = [
            (router.resident_bytes() - before) / 1024 / A_PROCESS for router, before in zip(routers, empty, strict=True)
        ]
        began = time.perf_counter()
        for router in routers:
            router.call("POST", "/release")
        answered = sum(int(caller.communicate(timeout=_LONG_S)[0]) for caller in callers)
        took_s = time.perf_counter() - began
        accounts = [msgspec.json.decode(router.call("GET", "/account"), type=Account) for router in routers]
    return _report(grown_kb, answered, took_s, accounts)


@contextmanager
def _router() -> Iterator[Router]:
    command = [sys.executable, "-m", "fake_router", "--service", "held"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            addresses = json.loads(process.stdout.readline() or b"{}")
            if not addresses:
                raise RuntimeError("a fake router did not start; its words are above")
            port = int(addresses["upstreams"][0].rpartition(":")[2])
            yield Router(port=port, control=addresses["control"], process=process)
        finally:
            process.terminate()


@contextmanager
def _caller(router: Router, first: int) -> Iterator["subprocess.Popen[bytes]"]:
    command = [sys.executable, "-m", "benchmarks.router_held", str(router.port), str(first)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def _report(grown_kb: list[float], answered: int, took_s: float, accounts: list[Account]) -> int:
    executed = sum(account.executed for account in accounts)
    exact = answered == executed == sum(account.answered for account in accounts) == HELD
    exact = exact and not any(account.duplicated or account.executed_never for account in accounts)
    print(
        f"{HELD:,} exchanges held at once by {len(grown_kb)} routers: {statistics.mean(grown_kb):.1f} KB resident each"
    )
    print(f"released: {answered:,} answered in {took_s:.1f} s, {executed:,} executed{'' if exact else '   NOT EXACT'}")
    ratio = ratio_of("KB resident of the fake router, to one held exchange", grown_kb, most=AT_MOST_KB)
    print(ratio.line)
    return 0 if exact and ratio.met else 1


if __name__ == "__main__":
    sys.exit(main())
