"""A store whose process is killed in the midst of its writes loses nothing that anybody was told."""

import subprocess
import sys
from pathlib import Path

from forwarder.futures.clock import ManualClock
from forwarder.futures.key import Key
from forwarder.futures.limits import Limits, Ttl
from forwarder.futures.outcome import Executed, Failed, Outcome, Sampled
from forwarder.futures.recovery import LOST
from forwarder.futures.sqlite_journal import SqliteJournal
from forwarder.futures.store import Futures
from tests.busy_store import payload_of

ENDED = Failed(says="may have run", category="server", executed=Executed.UNKNOWN, status=503)
KILLED_AFTER = (1, 33, 400)  # lines: facts that were told


def _lines_until_killed(path: Path, sampling: str, first: int, lines: int) -> list[list[str]]:
    command = [sys.executable, "-m", "tests.busy_store", str(path), sampling, str(first)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = [process.stdout.readline() for _ in range(lines)]
        process.kill()
        told += process.stdout.readlines()
    return [line.split() for line in told if line.endswith("\n")]


async def _opened(path: Path) -> Futures:
    return await Futures.open(clock=ManualClock(0), journal=SqliteJournal(str(path)), ttl=Ttl(), limits=Limits())


async def test_nothing_that_was_told_is_lost_or_changed_when_the_process_is_killed(tmp_path: Path) -> None:
    """Over several lives of one file: ids, outcomes, and that what was in flight is lost."""
    path = tmp_path / "store.db"
    futures = await _opened(path)
    sampling = await futures.create_sampling_session(await futures.create_session(), "m")
    told: dict[int, str] = {}
    outcomes: dict[str, Outcome] = {}
    for life, lines in enumerate(KILLED_AFTER):
        await futures.shut_down(lambda _: ENDED)
        for what, number, request_id in _lines_until_killed(path, sampling, life * 100_000, lines):
            told[int(number)] = request_id
            if what == "landed":
                outcomes[request_id] = Sampled(payload_of(int(number)))
        futures = await _opened(path)
        for seq_id, request_id in told.items():
            answer = await futures.submit(Key(sampling_session_id=sampling, seq_id=seq_id), b"", 20_000)
            assert (answer.request_id, answer.fresh) == (request_id, False)
            found = futures.look(request_id)
            # What landed without being told may be there or not, but then it is what it is for ever.
            assert found == outcomes.setdefault(request_id, found if found == Sampled(payload_of(seq_id)) else LOST)
        assert len(set(told.values())) == len(told)
    await futures.shut_down(lambda _: ENDED)
    assert LOST in outcomes.values()
    assert len(told) > sum(KILLED_AFTER) // 3
