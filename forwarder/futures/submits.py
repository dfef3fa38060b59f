"""Accepting: one key is one operation, however often it is submitted and whoever leaves before being answered."""

from dataclasses import dataclass

from forwarder.futures.acceptance import Acceptance
from forwarder.futures.entries import Accepted, Forgotten
from forwarder.futures.errors import ClosedError, JournalError, OtherContentError
from forwarder.futures.ids import StoreIdentity
from forwarder.futures.journal import Journal
from forwarder.futures.keys import Known, content_of
from forwarder.futures.room import Room
from forwarder.futures.sessions import KEY_BYTES, SamplingSession
from forwarder.futures.shelf import Shelf
from forwarder.futures.states import Event, State


@dataclass(frozen=True, slots=True)
class Submitted:
    """The operation's id. `fresh`: it is the one who is told so that runs it; nobody else does."""

    request_id: str
    fresh: bool


class Submits:
    """Submits of new keys are written down first; those of the same key meanwhile wait for the same writing."""

    def __init__(
        self, *, identity: StoreIdentity, next_counter: int, shelf: Shelf, room: Room, journal: Journal
    ) -> None:
        self._identity = identity
        self._shelf = shelf
        self._room = room
        self._journal = journal
        self._accepting: dict[int, Acceptance] = {}
        self.next_counter = next_counter
        self.closed = False

    async def submit(self, sampling: SamplingSession, seq_id: int, digest: bytes, reserved_bytes: int) -> Submitted:
        """The id of this operation; once closed, only of one that was accepted before.

        Raises OtherContentError, FullError, TooLargeError, JournalError, ClosedError.
        """
        content = content_of(digest)
        known = sampling.keys.get(seq_id)
        if known is None:
            if self.closed:
                raise ClosedError("the server is shutting down and accepts nothing more; nothing was run")
            acceptance = self._accept(sampling, seq_id, content, reserved_bytes)
            return await self._told(acceptance)
        if known.content != content:
            raise OtherContentError(
                f"seq_id {seq_id} of sampling session {sampling.id} was used for other content; expected the same as "
                "before, or a new seq_id; nothing was run"
            )
        accepting = self._accepting.get(known.counter)
        if accepting is not None:
            return await self._told(accepting)
        return Submitted(self._identity.id_of(known.counter), fresh=False)

    def is_running(self, counter: int) -> bool:
        """Somebody was told to run it: it is accepted for good."""
        return counter not in self._accepting

    def _accept(self, sampling: SamplingSession, seq_id: int, content: int, reserved_bytes: int) -> Acceptance:
        self._room.take(KEY_BYTES + reserved_bytes, futures=len(self._shelf))
        counter = self.next_counter
        self.next_counter += 1
        future = self._shelf.add(counter, State.ACCEPTING, reserved_bytes)
        self._shelf.hold_key(sampling, seq_id, Known(counter, content))
        acceptance = self._accepting[counter] = Acceptance(future, sampling, seq_id)
        entry = Accepted(counter, sampling.number, seq_id, content)
        self._journal.write(entry, lambda error: self._written(acceptance, error))
        return acceptance

    def _written(self, acceptance: Acceptance, error: JournalError | None) -> None:
        """It is durable, or will not be; what nobody waits for any more is taken back."""
        acceptance.is_settled = True
        if error is not None:
            acceptance.error = str(error)
            self._take_back(acceptance)
        else:
            acceptance.future.happens(Event.ACCEPTED)
            if self.closed or acceptance.is_abandoned:
                self._take_back_durable(acceptance)
        acceptance.waiters.wake(None)

    async def _told(self, acceptance: Acceptance) -> Submitted:
        """Whoever goes on first, and was not cancelled, is told to run it."""
        acceptance.submitters += 1
        acceptance.is_abandoned = False
        try:
            if not acceptance.is_settled:
                await acceptance.waiters.wait()
            if acceptance.error is not None:
                raise JournalError(acceptance.error)
            if self.closed:
                raise ClosedError("the server is shutting down; this was not accepted, and nothing was run")
            fresh = self._accepting.pop(acceptance.counter, None) is not None
            return Submitted(self._identity.id_of(acceptance.counter), fresh)
        finally:
            acceptance.submitters -= 1
            acceptance.is_abandoned = not acceptance.submitters
            if acceptance.is_abandoned and acceptance.is_settled and acceptance.counter in self._accepting:
                self._take_back_durable(acceptance)

    def _take_back_durable(self, acceptance: Acceptance) -> None:
        self._take_back(acceptance)
        self._journal.write(Forgotten(acceptance.counter, acceptance.counter))

    def _take_back(self, acceptance: Acceptance) -> None:
        """As if it had never been submitted: its id was told to nobody."""
        del self._accepting[acceptance.counter]
        self._shelf.drop_key(acceptance.sampling, acceptance.seq_id, acceptance.counter)
        self._shelf.withdraw(acceptance.future)
