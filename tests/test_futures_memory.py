"""A store takes no more memory than it counts."""

import gc
import tracemalloc

from forwarder.futures.clock import ManualClock
from forwarder.futures.journal import NoJournal
from forwarder.futures.key import Key
from forwarder.futures.limits import Limits, Ttl
from forwarder.futures.outcome import Sampled
from forwarder.futures.store import Futures

WAVE = 400
WAVES = 6


async def test_a_kept_result_and_a_key_of_what_is_gone_take_no_more_than_is_counted() -> None:
    """For weeks in one session, what is gone stays at a few bytes."""
    clock = ManualClock(0)
    futures = await Futures.open(clock=clock, journal=NoJournal(), ttl=Ttl(), limits=Limits())
    session = await futures.create_session()
    sampling = await futures.create_sampling_session(session, "m")
    taken, counted = [], []
    tracemalloc.start()
    try:
        for wave in range(WAVES):
            for seq_id in range(wave * WAVE, wave * WAVE + WAVE):
                answer = await futures.submit(Key(sampling_session_id=sampling, seq_id=seq_id), b"", 1000)
                await futures.resolve(answer.request_id, Sampled(bytes(1000)))
                futures.possibly_delivered(answer.request_id)
            if wave == 0:
                gc.collect()
                assert tracemalloc.get_traced_memory()[0] < futures.counts.stored_bytes
            clock.advance(Ttl().retrieved_ms)
            await futures.heartbeat(session)
            gc.collect()
            taken.append(tracemalloc.get_traced_memory()[0])
            counted.append(futures.counts.stored_bytes)
    finally:
        tracemalloc.stop()
    assert futures.counts.keys == WAVE * WAVES
    assert taken[-1] - taken[0] < counted[-1] - counted[0] < 40 * WAVE * (WAVES - 1)
