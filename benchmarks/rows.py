"""Every row that `python -m benchmarks` runs, in its order: what it measures, by which command, what bounds it."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """words: of `python -m`. bottleneck: what its profile shows, unless its output says so itself (`bottleneck: ...`).
    expected_s: about how long it takes; its share of the progress bar.
    """

    name: str
    says: str
    words: tuple[str, ...]
    bottleneck: str = ""
    expected_s: int = 10


_LOADS: Mapping[str, tuple[str, int]] = {
    "load_growth": ("the whole server, replies held: 4,096 in flight beside 512", 45),
    "load_small": ("the whole server, 2,048 small results, beside SkyRL's where that is installed", 50),
    "load_engine": ("32,768 operations through an engine of capacity 2,048 that takes 5 s", 95),
    "load_burst": ("32,768 results at once, with a poll waiting for each", 70),
    "load_held": ("131,072 operations in flight at once through the whole server", 130),
}

ROWS: tuple[Row, ...] = (
    Row(
        name="codec_rate",
        says="a completion of 1,000 tokens with logprobs, decoded and encoded",
        words=("benchmarks.codec_rate",),
        bottleneck="simdjson's parse of the body, and the check that no array lies inside another",
        expected_s=15,
    ),
    Row(
        name="property_rate",
        says="property examples on the reference in this process",
        words=("benchmarks.property_rate",),
        bottleneck="fifteen trips from thread to thread for an example, whose wake-ups are half of it; then the "
        "interpreter, a fifteenth of it for router, forwarder and sockets",
        expected_s=8,
    ),
    Row(
        name="faces_time",
        says="every face of a check and of a sign-off with 5,000 cells",
        words=("benchmarks.faces_time",),
        bottleneck="the encoding of each cell's diagram for report.html",
        expected_s=15,
    ),
    # Before any that leaves thousands of connections in TIME_WAIT: a check looks at the kernel's sockets.
    Row(
        name="check_time",
        says="a check from the command to its end",
        words=("benchmarks.check_time", "--limited"),
        bottleneck="time-outs of the subject that cells wait for; then the interpreter",
        expected_s=65,
    ),
    Row(
        name="router_rate",
        says="the fake router beside other servers of canned replies",
        words=("benchmarks.router_rate",),
        bottleneck="the fake router's one core: half of it the kernel's (send and wake-up 31%, receive 6%, poll 4%, "
        "memory of the ledger 3%), the rest Python's, over some thirty calls of which none takes a tenth",
        expected_s=75,
    ),
    Row(
        name="router_held",
        says="131,072 exchanges held at once by fake routers, on connections of their own",
        words=("benchmarks.router_held",),
        bottleneck="memory of the connection: socket, parser and performer; the exchange and its entries are a third",
        expected_s=75,
    ),
    Row(
        name="futures_rate",
        says="submits and polls, beside a minimal FastAPI app",
        words=("benchmarks.futures_rate",),
        bottleneck="the server's one core: uvicorn and Starlette take more than half of it",
        expected_s=25,
    ),
    Row(
        name="forwarder_load",
        says="the forwarder alone, replies held and at once, beside httpx",
        words=("benchmarks.forwarder_load",),
        bottleneck="the forwarder's one core, in aiohttp's connector and writer; of httpx, the scan of its pool",
        expected_s=75,
    ),
    *(
        Row(name=name, says=says, words=("benchmarks.load_rows", name), expected_s=expected_s)
        for name, (says, expected_s) in _LOADS.items()
    ),
)


def row_named(name: str) -> Row:
    """Raises ValueError with the names that exist."""
    for row in ROWS:
        if row.name == name:
            return row
    raise ValueError(f"row {name!r}; expected one of {', '.join(row.name for row in ROWS)}")
