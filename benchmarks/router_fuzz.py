"""Does the router stand? `python -m benchmarks.router_fuzz` sends it 1,000,000 hostile inputs while 5,000 idle
connections are held, and looks after every batch at its ledger, its sockets and its memory.

Exit codes: 0 it stands; 1 it does not, with the command that sends the same input again; 4 it could not be started.
"""

import argparse
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

from benchmarks.hostile import STRIDE
from benchmarks.hostile_peers import FuzzError, Peers, idle
from benchmarks.peers import HOST, ROOT
from fake_router.entries import Received, Rejected, Unserved
from fake_router.ledger import load

BATCH = 5_000  # inputs between two looks
WARM_UP = 10  # batches until memory has its size
MAX_GROWTH_MB = 16.0  # from then on
CONTROL_FILES = 2  # of our own requests to the control port, whose ends it may not have seen yet
SETTLING_S = 30.0
_PAGE_MB = os.sysconf("SC_PAGE_SIZE") / 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """The router's process after a batch: resident memory, and open files."""

    inputs: int
    rss_mb: float
    files: int


@dataclass(slots=True)
class Target:
    """A router in a process of its own."""

    process: "subprocess.Popen[bytes]"
    port: int
    control: int
    errors: IO[bytes]

    @staticmethod
    @contextmanager
    def started() -> Iterator["Target"]:
        """Raises FuzzError where it does not start."""
        command = [sys.executable, "-m", "fake_router"]
        with (
            tempfile.TemporaryFile() as errors,
            subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=errors) as process,
        ):
            assert process.stdout is not None
            try:
                addresses = json.loads(process.stdout.readline() or b"{}")
                if not addresses:
                    raise FuzzError("the router did not start; run `python -m fake_router` to see why")
                port, control = (int(a.rpartition(":")[2]) for a in (addresses["upstreams"][0], addresses["control"]))
                yield Target(process, port, control, errors)
            finally:
                process.terminate()

    def look(self, inputs: int) -> Look:
        """What its process holds now."""
        with open(f"/proc/{self.process.pid}/statm") as file:
            rss_mb = int(file.read().split()[1]) * _PAGE_MB
        return Look(inputs=inputs, rss_mb=rss_mb, files=len(os.listdir(f"/proc/{self.process.pid}/fd")))

    def complaint(self) -> str:
        """How it died, or what it wrote to stderr: a callback that failed is logged, and nothing else. Empty: well."""
        self.errors.seek(0)
        said = self.errors.read().decode(errors="replace")
        died = self.process.poll()
        return f"the router ended with {died}: {said}" if died is not None else said

    def ask(self, call: str, method: str = "POST") -> bytes:
        """Its control API."""
        request = urllib.request.Request(f"http://{HOST}:{self.control}/{call}", method=method)
        with urllib.request.urlopen(request) as answer:
            return bytes(answer.read())

    def settle(self, connections: int) -> None:
        """Wait until it has no other connections than these. Raises FuzzError."""
        deadline = time.monotonic() + SETTLING_S
        while (has := json.loads(self.ask("status", "GET"))["connections"]) != connections:
            if time.monotonic() > deadline:
                raise FuzzError(
                    f"{has} connections are open {SETTLING_S:g} s after the last peer left; expected {connections}"
                )
            time.sleep(0.002)  # the control port has no event for this


def main(arguments: list[str] | None = None) -> int:
    """Send it all; print a line now and then, and a table."""
    options = _options(arguments)
    print(
        f"seed {options.seed}: {options.inputs} inputs from {options.first}, {options.idle} idle connections",
        flush=True,
    )
    try:
        with Target.started() as target:
            peers = Peers(target.port, options.seed)
            began = time.monotonic()
            looks = _attack(target, peers, options)
            _print(peers, looks, time.monotonic() - began)
            return _verdict(looks)
    except FuzzError as error:
        print(f"router_fuzz: {error}", file=sys.stderr)
        return 4 if "did not start" in str(error) or "files open" in str(error) else 1


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.router_fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--first", type=int, default=0, help="the place of the first input")
    parser.add_argument("--idle", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**31))
    return parser.parse_args(arguments)


def _attack(target: Target, peers: Peers, options: argparse.Namespace) -> list[Look]:
    looks: list[Look] = []
    with idle(peers, options.idle) as silent:
        last = options.first + options.inputs
        for first in range(options.first, last, BATCH):
            places = range(first, min(first + BATCH, last))
            try:
                sure = peers.send(places)
                target.settle(len(silent))
                _check_ledger(target, sure)
            except OSError as error:
                raise FuzzError(f"inputs {places}: {error!r}; {target.complaint()}") from error
            if complaint := target.complaint():
                raise FuzzError(f"inputs {places}, seed {peers.seed}: {complaint}")
            target.ask("reset")
            looks.append(target.look(places.stop - options.first))
            _tell(looks)
        _check_health(peers, silent, last)
    return looks


def _check_ledger(target: Target, sure: set[int]) -> None:
    entries = load(target.ask("ledger", "GET"))
    missing = sure - {entry.operation for entry in entries if isinstance(entry, Received | Unserved)}
    if missing:
        place = (min(missing) - 1) // STRIDE
        raise FuzzError(f"{len(missing)} whole requests are not in the ledger, e.g. that of input {place}")
    odd = [entry for entry in entries if isinstance(entry, Rejected) and not 400 <= entry.status < 500]
    if odd:
        raise FuzzError(f"{odd[0]} is no honest refusal; expected a 4xx")


def _check_health(peers: Peers, silent: list[socket.socket], last: int) -> None:
    """After it all, a new connection and every idle one are served."""
    for nth, sock in enumerate([peers.connect(), *silent]):
        if not peers.is_well(sock, 1 + (last + nth) * STRIDE):
            raise FuzzError(f"after it all a healthy request on connection {nth} got no 200 (0: new, others were idle)")


def _tell(looks: list[Look]) -> None:
    if len(looks) % 20 == 0:
        look = looks[-1]
        print(f"{look.inputs:>9} inputs: {look.rss_mb:.1f} MB resident, {look.files} files", flush=True)


def _print(peers: Peers, looks: list[Look], seconds: float) -> None:
    print(f"\n{'input':24}{'sent':>10}")
    for kind, count in peers.kinds.most_common():
        print(f"{kind:24}{count:10}")
    print(f"\n{'statuses got':24}{'peers':>10}")
    for statuses, count in peers.answers.most_common():
        print(f"{statuses:24}{count:10}")
    print(f"\n{looks[-1].inputs} inputs in {seconds:.0f} s, {looks[-1].inputs / seconds:.0f}/s; seed {peers.seed}")


def _verdict(looks: list[Look]) -> int:
    """Flat from the end of the warm-up on."""
    base = looks[min(WARM_UP, len(looks)) - 1]
    last = looks[-1]
    growth = last.rss_mb - base.rss_mb
    print(
        f"memory {base.rss_mb:.1f} MB after {base.inputs} inputs, {last.rss_mb:.1f} MB after {last.inputs}: "
        f"{growth:+.1f} MB (at most {MAX_GROWTH_MB:g}); files {base.files} and {last.files}"
    )
    return 0 if growth <= MAX_GROWTH_MB and abs(last.files - base.files) <= CONTROL_FILES else 1


if __name__ == "__main__":
    sys.exit(main())
