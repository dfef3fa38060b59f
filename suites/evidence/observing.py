"""Many observations side by side: each case several times, on threads, before one thread of routers."""

import gc
import platform
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager

from fake_router.thread import RouterThread
from suites.evidence.cases import Case
from suites.evidence.client import Client, MissingClientError
from suites.evidence.clients import CLIENTS
from suites.evidence.matrix import Row, distinct
from suites.evidence.scene import ProvesNothingError, Seen, observe
from suites.evidence.trust import Trust

LANES = 48  # most of them wait for a time-out
REPEATS = 2
RACE_REPEATS = 20  # of what varies by chance

Pair = tuple[Client, Case]


def pairs_of(clients: Sequence[Client], cases: Sequence[Case]) -> list[Pair]:
    """Who meets what."""
    return [(client, case) for case in cases for client in clients if case.method in client.methods]


def observed(
    pairs: Sequence[Pair], tick: Callable[[], None] = lambda: None, *, repeats: int | None = None
) -> Iterator[Row | str]:
    """The row of each pair as soon as it is known, or why there is none; `tick` hears of each. Leaving it early ends
    what is under way. repeats: of each case, instead of what its race needs.
    """
    seen: dict[int, list[Seen]] = defaultdict(list)
    failed: dict[int, str] = {}
    left = [repeats or repeats_of(case) for _, case in pairs]
    for client, case in pairs:
        if (cannot := _cannot(client, case)) is not None:
            tick()
            yield Row(fault=case.fault.id, client=client.name, how=case.how, seen=(), cannot=cannot)
    with _leaving_sockets_to_the_collector(), RouterThread() as routers, Trust.made() as trust:
        pool = ThreadPoolExecutor(LANES, thread_name_prefix="evidence")
        try:
            places: dict[Future[Seen], int] = {
                pool.submit(observe, routers, trust, client, case): place
                for place, (client, case) in sorted(enumerate(pairs), key=_short_last)
                if _cannot(client, case) is None
                for _ in range(repeats or repeats_of(case))
            }
            for future in as_completed(places):
                place = places[future]
                try:
                    seen[place].append(future.result())
                except ProvesNothingError as error:
                    failed[place] = str(error)
                left[place] -= 1
                if left[place] == 0:
                    tick()
                    yield failed.get(place) or _row(*pairs[place], seen.pop(place))
        finally:
            pool.shutdown(cancel_futures=True)


def _cannot(client: Client, case: Case) -> str | None:
    return None if case.need is None else client.cannot.get(case.need)


@contextmanager
def _leaving_sockets_to_the_collector() -> Iterator[None]:
    """Some client, now and then, forgets a socket whose TLS has failed: nobody is warned of it, here or afterwards."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield
        gc.collect()


def _short_last(placed: tuple[int, Pair]) -> bool:
    """Those that wait for a time-out come first: the others go on beside them."""
    _, (_, case) = placed
    return case.waits is False


def repeats_of(case: Case) -> int:
    """How often that case is observed."""
    return RACE_REPEATS if case.race else REPEATS


def _row(client: Client, case: Case, seen: list[Seen]) -> Row | str:
    different = distinct(seen)
    if len(different) > 1 and not case.race:
        shown = "; ".join(map(repr, different))
        return f"{case.fault.id} ({case.how}), {client.name} saw {len(different)} different things: {shown}"
    return Row(fault=case.fault.id, client=client.name, how=case.how, seen=different, varies=case.race)


def versions_of(clients: Sequence[Client]) -> tuple[dict[str, str], list[str]]:
    """The versions of those that are installed; and what to do about the others."""
    versions: dict[str, str] = {}
    missing: list[str] = []
    for client in clients:
        try:
            versions[client.name] = client.version()
        except MissingClientError as error:
            missing.append(str(error))
    return versions, missing


def installed_clients(names: Sequence[str]) -> tuple[list[Client], dict[str, str], list[str]]:
    """Those of these clients that can be observed here, their versions, and what to do about the others."""
    versions, missing = versions_of([CLIENTS[name] for name in names])
    return [CLIENTS[name] for name in versions], versions, missing


def python_version() -> str:
    """Of the Python that observes."""
    return platform.python_version()
