"""What the callers of a script write and read on the wire: sessions, submits, and polls on connections of their own."""

from dataclasses import dataclass, field

from fake_router.content import prompt_tokens
from suites.endpoint import Endpoint
from suites.futures.answers import polled, submitted
from suites.futures.record import Answer
from suites.futures.steps import Loss, Other
from suites.numbers import Numbers
from suites.reading import Reply
from suites.tinker import wire
from suites.tinker.answers import text_in
from suites.tinker.open_call import Departure
from suites.tinker.poll import Poll, ask, open_poll, open_submit

WITHIN_MS = 10_000  # until what is answered at once has been
_SEEDS = {None: 1, Other.PROMPT: 1, Other.SEED: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Session:
    session_id: str
    sampling_session: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Key:
    """Of one operation: its session, by its place, and its number in it."""

    session: int
    seq_id: int


@dataclass(slots=True)
class Calls:
    """All callers of one script. numbers: what each operation carries in its content."""

    endpoint: Endpoint
    fresh: Numbers
    numbers: list[int] = field(default_factory=list)
    polls: dict[int, Poll] = field(default_factory=dict)
    _others: list[int] = field(default_factory=list)
    _sessions: dict[int, _Session] = field(default_factory=dict)
    _keys: list[_Key] = field(default_factory=list)

    async def open_session(self, place: int) -> tuple[str, str]:
        """The id of a new sampling session; empty, and why, where there is none."""
        reply = await ask(self.endpoint, wire.create_session(), within_ms=WITHIN_MS)
        session_id = text_in(reply, "session_id") if reply is not None else None
        if not session_id:
            return "", _told("create_session", reply)
        reply = await ask(self.endpoint, wire.create_sampling_session(session_id), within_ms=WITHIN_MS)
        name = text_in(reply, "sampling_session_id") if reply is not None else None
        if not name:
            return "", _told("create_sampling_session", reply)
        self._sessions[place] = _Session(session_id=session_id, sampling_session=name)
        return name, ""

    async def beat(self, place: int) -> int:
        """A heartbeat; the status of its answer, 0 for none."""
        session = self._sessions.get(place)
        if session is None:
            return 0
        reply = await ask(self.endpoint, wire.heartbeat(session.session_id), within_ms=WITHIN_MS)
        return 0 if reply is None else reply.status or 0

    def begin(self, session: int) -> int:
        """A new operation of that session; the number that its content carries. Another is kept for other content."""
        number, other = self.fresh.take(2)
        seq_id = sum(key.session == session for key in self._keys)
        self.numbers.append(number)
        self._others.append(other)
        self._keys.append(_Key(session=session, seq_id=seq_id))
        return number

    def number_of(self, operation: int, other: Other | None = None) -> int:
        """What its content carries, or the other content that is submitted under its key."""
        return self._others[operation] if other is Other.PROMPT else self.numbers[operation]

    def session_of(self, operation: int) -> int:
        """The place of its session."""
        return self._keys[operation].session

    async def submit(self, operation: int, *, other: Other | None = None, lost: Loss | None = None) -> Answer | None:
        """Sent once. None: its reply is lost."""
        key = self._keys[operation]
        session = self._sessions.get(key.session)
        sampling = wire.Sampling(
            sampling_session_id="none" if session is None else session.sampling_session,
            seq_id=key.seq_id,
            prompt=prompt_tokens(self.number_of(operation, other)),
            params={"seed": _SEEDS[other]},
        )
        with await open_submit(self.endpoint, sampling) as call:
            if lost is Loss.UNREAD:
                await call.arrived(WITHIN_MS)
            if lost is not None:
                call.leave(Departure.RESET)
                return None
            return submitted(await call.reply(WITHIN_MS))

    async def poll(self, place: int, request_id: str, *, json: bool = False) -> None:
        """A poll is sent; nobody reads its reply yet."""
        accept = wire.JSON if json else wire.PROTOBUF
        self.polls[place] = await open_poll(self.endpoint, request_id, metadata_only=False, accept=accept)

    async def read(self, place: int, within_ms: int) -> Answer | None:
        """Its answer; None where none has come within that time."""
        reply = await self.polls[place].call.reply(within_ms)
        return None if reply is None else polled(reply)

    async def ask(self, request_id: str) -> Answer:
        """A poll that is answered at once."""
        with await open_poll(self.endpoint, request_id, metadata_only=False) as poll:
            return polled(await poll.call.reply(WITHIN_MS))

    def close(self) -> None:
        """No connection is left open."""
        for poll in self.polls.values():
            poll.close()


def _told(what: str, reply: Reply | None) -> str:
    return f"{what} was answered {'nothing' if reply is None else f'{reply.status} with {reply.body[:80]!r}'}"
