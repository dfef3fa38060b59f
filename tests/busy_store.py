"""`python -m tests.busy_store PATH SAMPLING FIRST`: a store that is used without end, and says what was acknowledged.

Each line on stdout is one fact that somebody was told: an id, or an outcome. It is killed in the midst of its writes.
"""

import asyncio
import os
import sys

from forwarder.futures.clock import ManualClock
from forwarder.futures.key import Key
from forwarder.futures.limits import Limits, Ttl
from forwarder.futures.outcome import Sampled
from forwarder.futures.sqlite_journal import SqliteJournal
from forwarder.futures.store import Futures

TOGETHER = 8


def payload_of(seq_id: int) -> bytes:
    """What an operation comes to: some are larger than a page."""
    return f"{seq_id};".encode() * (1 + seq_id * 97 % 3000)


async def main(path: str, sampling: str, first: int) -> None:
    """Many at once, each submitted, resolved and delivered."""
    futures = await Futures.open(clock=ManualClock(0), journal=SqliteJournal(path), ttl=Ttl(), limits=Limits())
    await asyncio.gather(*(_use(futures, sampling, first + lane) for lane in range(TOGETHER)))


async def _use(futures: Futures, sampling: str, seq_id: int) -> None:
    while True:
        answer = await futures.submit(Key(sampling_session_id=sampling, seq_id=seq_id), b"", 20_000)
        _say(f"submitted {seq_id} {answer.request_id}")
        await futures.resolve(answer.request_id, Sampled(payload_of(seq_id)))
        _say(f"landed {seq_id} {answer.request_id}")
        if seq_id % 2:
            futures.possibly_delivered(answer.request_id)
        seq_id += TOGETHER


def _say(line: str) -> None:
    os.write(sys.stdout.fileno(), f"{line}\n".encode())


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
