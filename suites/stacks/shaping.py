"""What the kernel does with what a container sends: a queueing discipline in its network namespace, laid by tc(8) from
here, so that its image needs neither that program nor the right to use it.
"""

import json
import subprocess
from collections.abc import Sequence
from functools import cache
from shutil import which

from suites.stacks.errors import StackError

_LOOPBACK = "lo"
# tbf(8): a byte a second. What is larger than its bucket never passes, so that of what is asked and answered nothing
# does. netem(8): a minute later nobody waits any more.
_WORDS = {
    "tbf": ("rate", "8bit", "burst", "100", "limit", "1000"),
    "netem": ("delay", "60s", "limit", "1000"),
}
_WITHIN_S = 10


def shape(namespace: str, kind: str) -> None:
    """From now on it does that with all that leaves the network at that path. Raises StackError."""
    for device in _devices(namespace):
        _tc(namespace, "qdisc", "add", "dev", device, "root", kind, *_WORDS[kind])


def unshape(namespace: str) -> None:
    """It does so no more. Raises StackError."""
    for device in _devices(namespace):
        _tc(namespace, "qdisc", "del", "dev", device, "root")


def shaped(namespace: str) -> str:
    """Which discipline stands over all of that, by tc's own word; empty for several. Raises StackError."""
    kinds = set(_devices(namespace).values())
    return kinds.pop() if len(kinds) == 1 else ""


def _devices(namespace: str) -> dict[str, str]:
    """Those that lead out of it, whatever Docker calls them, each with the discipline at its root."""
    found = json.loads(_tc(namespace, "-j", "qdisc", "show"))
    return {str(one["dev"]): str(one["kind"]) for one in found if one.get("root") and one["dev"] != _LOOPBACK}


@cache
def lacks(kind: str) -> str | None:
    """Why nothing is shaped so here; None where it can be. Tried out in a network of its own."""
    if missing := [name for name in ("tc", "nsenter", "unshare") if which(name) is None]:
        return f"no {missing[0]!r} here, by which what a container sends is shaped (iproute2, util-linux)"
    done = _run(["unshare", "-n", "tc", "qdisc", "add", "dev", "lo", "root", kind, *_WORDS[kind]])
    if done.returncode == 0:
        return None
    said = " ".join(done.stderr.split())
    return f"this kernel lays no {kind} over what a container sends ({said.removeprefix('Error: ')})"


def lacking() -> dict[str, str]:
    """Those that cannot be had here, each with the reason."""
    return {kind: why for kind in _WORDS if (why := lacks(kind)) is not None}


def _tc(namespace: str, *words: str) -> str:
    done = _run(["nsenter", f"--net={namespace}", "tc", *words])
    if done.returncode != 0:
        said = " ".join(done.stderr.split())
        raise StackError(f"tc {' '.join(words)} in {namespace!r}: {said}; expected an engine on this machine, and root")
    return done.stdout


def _run(words: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(words, capture_output=True, text=True, timeout=_WITHIN_S, check=False)
