"""One load, lived through until it can be believed, with its callers wherever they are to be."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import assert_never

from retryproof.cluster import Cluster
from retryproof.load_asked import Asked
from retryproof.output import say
from retryproof.spread_crew import SpreadCrew, hands
from retryproof.units import Here
from retryproof.where import Where
from retryproof.where_options import MAX_JOBS
from retryproof.workers import LIVES
from suites.load.asked import Load
from suites.load.crew import Crew
from suites.load.found import Found, Sample
from suites.load.limits import Layout
from suites.load.living import Living, MakeCrew
from suites.load.target import loopback_of, read_timeout_ms
from suites.passage import Toxiproxy
from suites.processes import Supervisor


def jobs_of(asked: Asked, where: Where) -> int:
    """Over how many worker processes callers are dealt out; 0 where they are processes of this one."""
    match where:
        case Here():
            return asked.jobs or 0
        case Cluster(cpus=cpus):
            return asked.jobs or max(1, min(cpus, MAX_JOBS))
        case _:
            assert_never(where)


@dataclass(slots=True, kw_only=True)
class Lives:
    """Loads are lived through with this. partly: hears of one that was interrupted, as far as it is known."""

    asked: Asked
    partly: Callable[[Found], None]
    supervisor: Supervisor
    between: Toxiproxy | None
    folder: Path
    look: Callable[[Sample], None]
    where: Where
    _lives: int = 0

    async def lived(self, load: Load, processes: Layout) -> Found:
        """All of it. Where a worker process with callers has died, what the others saw proves nothing: it is lived
        through again, from its beginning, once.
        """
        for _ in range(LIVES - 1):
            found = await self._live(load, processes)
            if not found.lost:
                return found
            say(f"{found.lost[0]}; the load of {load.in_flight:,} in flight begins again")
        return await self._live(load, processes)

    async def _live(self, load: Load, processes: Layout) -> Found:
        folder = self.folder / f"load-{self._lives}"
        self._lives += 1
        folder.mkdir()
        async with self._crews(processes) as make_crew:
            living = Living(
                load=load,
                layout=processes,
                file=self.asked.file,
                read_timeout_ms=read_timeout_ms(load),
                supervisor=self.supervisor,
                between=self.between,
                folder=folder,
                look=self.look,
                make_crew=make_crew,
            )
            try:
                return await living.found()
            except asyncio.CancelledError:
                if living.partly is not None:
                    self.partly(living.partly)
                raise

    @asynccontextmanager
    async def _crews(self, processes: Layout) -> AsyncIterator[MakeCrew]:
        """Processes of this one, or dealt out over so many worker processes as there can be now."""
        jobs = min(jobs_of(self.asked, self.where), processes.callers)
        if isinstance(self.where, Cluster):
            jobs = min(jobs, max(1, self.where.cpus))
        if not jobs:
            yield Crew
            return
        async with hands(self.where, jobs, loopback_of(self.asked.file)) as begun:
            yield partial(SpreadCrew, begun)
