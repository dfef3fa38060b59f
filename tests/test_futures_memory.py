"""A store takes no more memory than it counts."""

import gc
import tracemalloc
from pathlib import Path

import forwarder.futures as futures_package
from forwarder.futures.clock import ManualClock
from forwarder.futures.journal import NoJournal
from forwarder.futures.key import Key
from forwarder.futures.limits import Limits, Ttl
from forwarder.futures.outcome import Sampled
from forwarder.futures.store import Futures

WAVE = 300
WAVES = 16  # so many that what dictionaries keep in reserve, some 12 KB, is small beside what keys take
FRAMES = 4
OURS = (
    tracemalloc.Filter(True, f"{Path(futures_package.__file__).parent}/*", all_frames=True),
    tracemalloc.Filter(True, __file__, all_frames=True),
)


def _held_bytes() -> int:
    """By the store, by whatever it calls and by this test, and by nothing else in the process: what other tests have
    left running takes memory too.
    """
    gc.collect()
    traces = tracemalloc.take_snapshot().filter_traces(OURS)
    return sum(each.size for each in traces.statistics("filename"))


async def test_a_kept_result_and_a_key_of_what_is_gone_take_no_more_than_is_counted() -> None:
    """For weeks in one session, what is gone stays at a few bytes."""
    clock = ManualClock(0)
    futures = await Futures.open(clock=clock, journal=NoJournal(), ttl=Ttl(), limits=Limits())
    session = await futures.create_session()
    sampling = await futures.create_sampling_session(session, "m")
    taken, counted = [], []
    tracemalloc.start(FRAMES)
    try:
        for wave in range(WAVES):
            for seq_id in range(wave * WAVE, wave * WAVE + WAVE):
                answer = await futures.submit(Key(sampling_session_id=sampling, seq_id=seq_id), b"", 1000)
                await futures.resolve(answer.request_id, Sampled(bytes(1000)))
                futures.possibly_delivered(answer.request_id)
            if wave == 0:
                assert _held_bytes() < futures.counts.stored_bytes
            clock.advance(Ttl().retrieved_ms)
            await futures.heartbeat(session)
            if wave in (0, WAVES - 1):
                taken.append(_held_bytes())
                counted.append(futures.counts.stored_bytes)
    finally:
        tracemalloc.stop()
    assert futures.counts.keys == WAVE * WAVES
    assert taken[-1] - taken[0] < counted[-1] - counted[0] < 40 * WAVE * (WAVES - 1)
