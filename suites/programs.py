"""Where the programs of subjects are found, and what one says of its version."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

_VERSION_S = 30  # an interpreter on a busy machine


def environment() -> dict[str, str]:
    """Ours, with more behind its PATH: the folder of this Python, where pip has put programs beside it, and the sbin
    beside each bin. Servers lie there, and few users have it on their PATH. Without the proxies that it names: all that
    a subject talks to is on this machine.
    """
    folders = [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if folder]
    beside = [folder.removesuffix("bin") + "sbin" for folder in folders if folder.endswith("/bin")]
    kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    return {**kept, "PATH": os.pathsep.join((*folders, str(Path(sys.executable).parent), *beside))}


def is_found(name: str) -> bool:
    """There is a program of that name, or at that path."""
    return shutil.which(name, path=environment()["PATH"]) is not None


def first_line_of(argv: Sequence[str]) -> str:
    """The first line that a version command writes, to stdout or stderr; says so when there is none."""
    try:
        return _first_line(tuple(argv))
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"unknown ({error})"


@cache
def _first_line(argv: tuple[str, ...]) -> str:
    """Asked once by this process: the variants of a subject are one program, and some take seconds to say it."""
    done = subprocess.run(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=_VERSION_S,
        check=False,
        env=environment(),
    )
    lines = done.stdout.decode(errors="replace").strip().splitlines()
    return lines[0] if lines else f"unknown ({argv[0]!r} wrote nothing)"
