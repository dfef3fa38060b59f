"""A store as its journal remembers it."""

from forwarder.futures.entries import Recovered, Row
from forwarder.futures.future import FAILED_BYTES, FUTURE_BYTES, Future, held_bytes
from forwarder.futures.keys import Known
from forwarder.futures.outcome import Executed, Failed
from forwarder.futures.room import Room
from forwarder.futures.sessions import KEY_BYTES, SAMPLING_BYTES, SESSION_BYTES, SamplingSession, Sessions
from forwarder.futures.shelf import Shelf
from forwarder.futures.states import Event, State, after

LOST = Failed(
    says="unknown, may have run: the server ended while this operation was in flight, and does not send it again",
    category="server",
    executed=Executed.UNKNOWN,
    status=502,
)


def restore(recovered: Recovered, *, sessions: Sessions, shelf: Shelf, room: Room, now_ms: int) -> list[Future]:
    """Fill the empty store. The futures that were in flight are LANDING: that they are LOST has to be written down.

    A time that has not come yet, because the machine's clock was set back, is taken for now.
    """
    samplings = _restore_sessions(recovered, sessions, room, now_ms)
    kept: list[tuple[int, Row, Future]] = []
    in_flight: list[Future] = []
    for row in recovered.rows:
        counter = row.accepted.counter
        shelf.fates.hold(counter)
        sampling = samplings.get(row.accepted.sampling)
        if sampling is not None:
            _restore_key(row, sampling, shelf, room)
        match after(row.state, Event.RESTARTED):
            case State.LANDING:
                in_flight.append(_restore_future(counter, State.LANDING, FUTURE_BYTES + FAILED_BYTES, shelf, room))
            case State.UNDELIVERED | State.DELIVERED as state:
                assert row.finished is not None
                future = _restore_future(counter, state, held_bytes(row.finished.outcome), shelf, room)
                kept.append((min(row.finished.at_ms, now_ms), row, future))
            case state:
                shelf.fates.set(counter, state)
        shelf.fates.release(counter)
    for landed_ms, row, future in sorted(kept, key=lambda each: each[0]):
        assert row.finished is not None
        shelf.put_back(future, row.finished.outcome, landed_ms, now_ms)
    return in_flight


def _restore_sessions(recovered: Recovered, sessions: Sessions, room: Room, now_ms: int) -> dict[int, SamplingSession]:
    for opened in sorted(recovered.sessions, key=lambda opened: opened.at_ms):
        room.take_anyway(SESSION_BYTES)
        sessions.open(opened.session_id, min(opened.at_ms, now_ms))
    samplings = {}
    for sampling in recovered.samplings:
        room.take_anyway(SAMPLING_BYTES)
        samplings[sampling.number] = sessions.restore_sampling(sampling.number, sampling.session_id, sampling.model)
    return samplings


def _restore_key(row: Row, sampling: SamplingSession, shelf: Shelf, room: Room) -> None:
    """A second row of a key means that the first was refused, told to nobody, and reached the disk all the same."""
    accepted = row.accepted
    refused = sampling.keys.get(accepted.seq_id)
    if refused is not None:
        shelf.drop_key(sampling, accepted.seq_id, refused.counter)
    room.take_anyway(KEY_BYTES)
    shelf.hold_key(sampling, accepted.seq_id, Known(accepted.counter, accepted.content))


def _restore_future(counter: int, state: State, cost_bytes: int, shelf: Shelf, room: Room) -> Future:
    room.take_anyway(cost_bytes)
    return shelf.add(counter, state, cost_bytes)
