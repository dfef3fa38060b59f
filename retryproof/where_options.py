"""Where the work of a command is done, as options: `--jobs` and `--ray`."""

import argparse
import re

from retryproof.cluster import AUTO
from retryproof.command import whole_number
from retryproof.exits import CommandError, Exit
from retryproof.where import require_ray

MAX_JOBS = 64
_ADDRESS = re.compile(r"[^\s:/]+:[0-9]{1,5}")


_JOBS = (
    "live through it in N worker processes, with the same result as in one (default 1: in this process; with --ray as "
    "many as the cluster has CPUs); those of a sign-off are shared by both sides, which go on side by side then; one "
    "that runs already always has one process"
)


def add_where(parser: argparse.ArgumentParser, jobs: str = _JOBS) -> None:
    """The options of every command whose work can be shared out. jobs: the help of its --jobs."""
    parser.add_argument(
        "--jobs",
        type=whole_number(1, MAX_JOBS),
        metavar="N",
        help=jobs,
    )
    parser.add_argument(
        "--ray",
        type=_address,
        metavar="ADDRESS",
        help="start the worker processes on a Ray cluster that there is, each on a CPU of its own: HOST:PORT of its "
        f"head, or {AUTO}; this machine belongs to it, and every machine of it has the same retryproof and the "
        "programs of SUBJECT (docs/scaling.md; needs retryproof[ray])",
    )


def require_where(options: argparse.Namespace) -> None:
    """What they say can be done here. Raises CommandError: exit code 2 for what does not go together, 4 without Ray."""
    if options.ray is None:
        return
    if options.own_network:
        raise CommandError(
            "--ray beside --own-network, in which no cluster can be reached; expected one of them", Exit.USAGE
        )
    require_ray()


def _address(text: str) -> str:
    if text != AUTO and (not _ADDRESS.fullmatch(text) or not 0 < int(text.rpartition(":")[2]) < 1 << 16):
        raise argparse.ArgumentTypeError(f"{text!r}; expected HOST:PORT of the head of a Ray cluster, or {AUTO}")
    return text
