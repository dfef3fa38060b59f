"""A journal in SQLite read back whole. SQLite keeps any value in any column: each is looked at, and then believed."""

import json
import sqlite3
from collections.abc import Iterator

from forwarder.futures.entries import Accepted, Finished, Recovered, Row, SamplingOpened, SessionOpened
from forwarder.futures.ids import StoreIdentity
from forwarder.futures.outcome import Executed, Failed, Outcome, Sampled
from forwarder.futures.sqlite_schema import damaged
from forwarder.futures.states import State

# Pages that are torn, and values that are not as written.
_DAMAGE = (sqlite3.Error, TypeError, ValueError, KeyError, RecursionError)
_FATES = {state.name: state for state in (State.DELIVERED, State.EVICTED, State.EXPIRED)}


def recovered_from(connection: sqlite3.Connection, path: str) -> Recovered:
    """All that is in it; its rows are read as they are asked for. Raises JournalError for what nobody wrote so."""
    try:
        return _recovered(connection, path)
    except _DAMAGE as error:
        raise damaged(path, repr(error)) from None


def _recovered(connection: sqlite3.Connection, path: str) -> Recovered:
    (identity,) = connection.execute("SELECT identity FROM store").fetchone()
    highest = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'futures'").fetchone()
    next_counter = _number(highest[0]) + 1 if highest is not None else 1
    return Recovered(
        identity=StoreIdentity(int(_text(identity))),
        next_counter=next_counter,
        sessions=[
            SessionOpened(_text(session_id), _number(heartbeat_ms))
            for session_id, heartbeat_ms in connection.execute("SELECT id, heartbeat_ms FROM sessions")
        ],
        samplings=[
            SamplingOpened(_number(number), _text(session_id), _text(model))
            for number, session_id, model in connection.execute(
                "SELECT number, session, model FROM samplings WHERE session IN (SELECT id FROM sessions)"
            )
        ],
        rows=_rows(connection, path, next_counter),
    )


def _rows(connection: sqlite3.Connection, path: str, next_counter: int) -> Iterator[Row]:
    """Raises JournalError, in the midst of them."""
    try:
        for row in _read(connection):
            if not 1 <= row.accepted.counter < next_counter:
                raise ValueError(f"operation {row.accepted.counter}; expected 1 to {next_counter - 1}")
            yield row
    except _DAMAGE as error:
        raise damaged(path, repr(error)) from None


def _read(connection: sqlite3.Connection) -> Iterator[Row]:
    rows = connection.execute(
        "SELECT futures.counter, sampling, seq, content, fate, landed_ms, payload, failure "
        "FROM futures LEFT JOIN outcomes USING (counter) ORDER BY futures.counter"
    )
    for counter, sampling, seq, content, fate, landed_ms, payload, failure in rows:
        accepted = Accepted(_number(counter), _number(sampling), _number(seq), _number(content))
        state = State.UNDELIVERED if fate is None else _FATES[fate]
        if state in (State.EVICTED, State.EXPIRED):
            yield Row(accepted, state)
        elif landed_ms is None:  # perhaps delivered, from memory, when its outcome could not be written
            yield Row(accepted, State.PENDING)
        else:
            yield Row(accepted, state, Finished(counter, _number(landed_ms), _outcome(payload, failure)))


def _outcome(payload: object, failure: object) -> Outcome:
    if payload is not None:
        if not isinstance(payload, bytes):
            raise TypeError(f"a payload that is {payload!r:.100}; expected bytes")
        return Sampled(payload)
    says, category, executed, status = json.loads(_text(failure))
    return Failed(says=_text(says), category=_text(category), executed=Executed(executed), status=_number(status))


def _number(value: object) -> int:
    """It is one, and as all that is written it is 0 or more."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise TypeError(f"{value!r:.100}; expected a number of 0 or more")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.100}; expected a text")
    return value
