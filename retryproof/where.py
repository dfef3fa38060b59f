"""Where units are lived through: in processes of this machine, or of a Ray cluster."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec

from retryproof.cluster import Cluster, connected_to
from retryproof.exits import CommandError, Exit
from retryproof.units import Here

Where = Here | Cluster


@asynccontextmanager
async def somewhere(ray: str | None) -> AsyncIterator[Where]:
    """That cluster, or this machine. Raises CommandError (exit code 4)."""
    if ray is None:
        yield Here()
        return
    async with connected_to(ray) as cluster:
        yield cluster


def require_ray() -> None:
    """It can be imported; whether it can is asked without doing so. Raises CommandError (exit code 4)."""
    if find_spec("ray") is None:
        raise CommandError(
            "--ray needs Ray, which is not installed; install it: pip install 'retryproof[ray]'", Exit.COULD_NOT_RUN
        )
