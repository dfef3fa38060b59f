"""Sessions and their sampling sessions: what keys live in, and live as long as."""

from collections import OrderedDict

from forwarder.futures.errors import UnknownSessionError
from forwarder.futures.keys import Keys

SESSION_BYTES = 1024
SAMPLING_BYTES = 1024
KEY_BYTES = 32


class SamplingSession:
    """What a caller samples from; its keys are its own."""

    __slots__ = ("keys", "model", "number", "session_id")

    def __init__(self, number: int, session_id: str, model: str) -> None:
        self.number = number
        self.session_id = session_id
        self.model = model
        self.keys = Keys()

    @property
    def id(self) -> str:
        """As callers name it."""
        return f"{self.number:016x}"


class Session:
    """It ends at due_ms, unless a heartbeat comes before."""

    __slots__ = ("due_ms", "id", "samplings")

    def __init__(self, session_id: str, due_ms: int) -> None:
        self.id = session_id
        self.due_ms = due_ms
        self.samplings: list[SamplingSession] = []


class Sessions:
    """All of them, in the order in which they end: each heartbeat gives the same time."""

    def __init__(self, ttl_ms: int) -> None:
        self._ttl_ms = ttl_ms
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._samplings: dict[str, SamplingSession] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    @property
    def sampling_count(self) -> int:
        """How many sampling sessions there are."""
        return len(self._samplings)

    def open(self, session_id: str, now_ms: int) -> None:
        """A new one; its beginning is its first heartbeat. They are opened in the order of time."""
        self._sessions[session_id] = Session(session_id, now_ms + self._ttl_ms)

    def beat(self, session_id: str, now_ms: int) -> None:
        """It lives. Raises UnknownSessionError."""
        self._living(session_id, now_ms).due_ms = now_ms + self._ttl_ms
        self._sessions.move_to_end(session_id)

    def open_sampling(self, number: int, session_id: str, model: str, now_ms: int) -> SamplingSession:
        """A new sampling session of a session that lives. Raises UnknownSessionError."""
        self._living(session_id, now_ms)
        return self.restore_sampling(number, session_id, model)

    def restore_sampling(self, number: int, session_id: str, model: str) -> SamplingSession:
        """A sampling session of a session that is there."""
        sampling = SamplingSession(number, session_id, model)
        self._sessions[session_id].samplings.append(sampling)
        self._samplings[sampling.id] = sampling
        return sampling

    def sampling(self, sampling_session_id: str, now_ms: int) -> SamplingSession:
        """The one with that id, while its session lives. Raises UnknownSessionError."""
        sampling = self._samplings.get(sampling_session_id)
        if sampling is None:
            raise UnknownSessionError(_unknown("sampling session", sampling_session_id))
        self._living(sampling.session_id, now_ms)
        return sampling

    def first_due_ms(self) -> int | None:
        """When the next one ends; None: there is none."""
        return next(iter(self._sessions.values())).due_ms if self._sessions else None

    def pop_ended(self, now_ms: int) -> Session | None:
        """Take out one that has ended, and its sampling sessions; None: all live."""
        first_due_ms = self.first_due_ms()
        if first_due_ms is None or first_due_ms > now_ms:
            return None
        return self.drop(next(iter(self._sessions)))

    def drop(self, session_id: str) -> Session | None:
        """Take it out, and its sampling sessions; None: it is not there."""
        session = self._sessions.pop(session_id, None)
        if session is None:
            return None
        for sampling in session.samplings:
            del self._samplings[sampling.id]
        return session

    def drop_sampling(self, sampling: SamplingSession) -> bool:
        """As if it had never been opened; False: its session has ended, and taken it along."""
        if self._samplings.pop(sampling.id, None) is None:
            return False
        self._sessions[sampling.session_id].samplings.remove(sampling)
        return True

    def _living(self, session_id: str, now_ms: int) -> Session:
        session = self._sessions.get(session_id)
        if session is None or session.due_ms <= now_ms:
            raise UnknownSessionError(_unknown("session", session_id))
        return session


def _unknown(what: str, its_id: str) -> str:
    return f"no {what} {its_id[:100]!r}: it never was, or its session has ended for want of heartbeats; begin a new one"
