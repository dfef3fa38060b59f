"""A caller shaped like the Tinker SDK: it submits, and polls until a result has come. A poll that takes too long it
abandons and repeats; a submit that may have been lost it sends again under the same key.
"""

import asyncio
import itertools
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import assert_never

from fake_router.content import prompt_tokens
from suites.history import Arrival
from suites.load.connection import Answer, BrokenError
from suites.load.ended import Ended, Told
from suites.load.line import Gate, Line, NoPortError
from suites.load.order import Claim
from suites.load.plain import failed, own
from suites.load.progress import Count, Progress
from suites.load.template import ID, ITERATION, NUMBER, SEQ, Template
from suites.reading import Reply
from suites.request import Request
from suites.tinker import wire
from suites.tinker.answers import (
    FutureFailed,
    Gone,
    Lost,
    NotYet,
    Refused,
    Sampled,
    Size,
    Submitted,
    poll_answer,
    submit_answer,
    text_in,
)

PAUSE_S = 0.5  # before what failed is sent again, as the SDK pauses
_HEARTBEAT_S = 30.0
_SESSION_S = 60.0  # for the answer to what makes a session: whoever starts may be slow
_NUMBERS = re.compile(r"[0-9][0-9.:]*")
_SHOWN = 120  # characters of what a server says
_AGAIN = frozenset({408, 409, 429})  # and every 5xx: the SDK sends it again


class NoSessionError(Exception):
    """The subject gave no session; the message says what it answered."""


@dataclass(slots=True, kw_only=True)
class _Session:
    """With one instance: its submits are numbered in it."""

    submit: Template
    heartbeat: bytes
    line: Line
    seq: "itertools.count[int]" = field(default_factory=itertools.count)


class SdkCaller:
    """How each operation of one process is asked for. leave_every: see Order."""

    def __init__(
        self,
        gates: Sequence[Gate],
        progress: Progress,
        *,
        headers: dict[str, str],
        not_executed: Sequence[Claim],
        give_up_s: float,
        patience_s: float,
        leave_every: int,
        pause_s: float = PAUSE_S,
    ) -> None:
        self._gates = gates
        self._progress = progress
        self._headers = headers
        self._not_executed = not_executed
        self._give_up_s = give_up_s
        self._patience_s = patience_s
        self._leave_every = leave_every
        self._pause_s = pause_s
        self._sessions: list[_Session] = []
        self._polls: list[Template] = []

    async def begin(self) -> None:
        """A session with each instance. Raises NoSessionError."""
        for gate in self._gates:
            self._sessions.append(await self._session(gate))
            poll = wire.retrieve_future(ID, iteration=ITERATION, metadata_only=False, headers=self._headers)
            self._polls.append(Template(poll, gate.host))

    async def stay_alive(self) -> None:
        """Heartbeats, until it is cancelled: a session that is silent for an hour is over."""
        while True:
            await asyncio.sleep(_HEARTBEAT_S)
            for session in self._sessions:
                try:
                    await session.line.ask(session.heartbeat, _SESSION_S)
                except (BrokenError, NoPortError):
                    continue  # the next one will tell

    def close(self) -> None:
        """Its sessions are left alone."""
        for session in self._sessions:
            session.line.close()

    async def operation(self, line: Line, instance: int, number: int) -> Told:
        """One operation, and what its caller may believe of it. Raises NoPortError."""
        deadline_s = time.monotonic() + self._give_up_s
        session = self._sessions[instance]
        submit = session.submit.filled({b"seq": next(session.seq), b"number": number})
        taken = await self._submitted(line, submit, deadline_s)
        if isinstance(taken, Told):
            return taken
        return await self._polled(line, self._polls[instance], taken, number, deadline_s)

    async def _submitted(self, line: Line, submit: bytes, deadline_s: float) -> bytes | Told:
        """The id of its future; or how it ended without one."""
        last = Told(ended=Ended.NO_ANSWER, why="no answer in time")
        while (left_s := deadline_s - time.monotonic()) > 0:
            try:
                answer = await line.ask(submit, min(self._patience_s, left_s))
            except BrokenError as error:
                last, answer = Told(ended=Ended.NO_ANSWER, why=str(error)), None
            if answer is not None:
                match submit_answer(_reply(answer)):
                    case Submitted(request_id=request_id):
                        return request_id.encode()
                    case Refused() | Lost():
                        last = failed(answer, self._not_executed)
                if not _is_again(answer):
                    return last
            self._progress.add(Count.RESENT)
            await asyncio.sleep(self._pause_s)
        return last

    async def _polled(self, line: Line, poll: Template, id_: bytes, number: int, deadline_s: float) -> Told:
        why = "no result in time"
        iteration = 0
        while (left_s := deadline_s - time.monotonic()) > 0:
            request = poll.filled({b"id": id_, b"iteration": iteration})
            self._progress.add(Count.POLLS)
            iteration += 1
            try:
                if iteration == 1 and self._leave_every and number % self._leave_every == 0:
                    await line.leave(request)
                    answer = None
                else:
                    answer = await line.ask(request, min(self._patience_s, left_s))
            except BrokenError as error:
                why = str(error)
                await asyncio.sleep(self._pause_s)
                continue
            if answer is None:
                self._progress.add(Count.ABANDONED)
            elif (said := self._said(answer, number)) is not None:
                return said
        return Told(ended=Ended.NO_ANSWER, why=why)

    def _said(self, answer: Answer, number: int) -> Told | None:
        """None: it is to poll again."""
        match poll_answer(_reply(answer)):
            case NotYet() | Size():
                return None
            case Sampled(sample=sample):
                tokens = sample.sequences[0].tokens if len(sample.sequences) == 1 else ()
                return own(tokens, number, "a result")
            case FutureFailed(says=says):
                return Told(ended=failed(answer, self._not_executed).ended, why=kind_of(says))
            case Gone():
                return Told(ended=Ended.UNKNOWN, why="its future is gone (404)")
            case Refused() | Lost():
                garbage = 200 <= answer.status < 300
                return Told(ended=Ended.GARBAGE if garbage else Ended.UNKNOWN, why=f"poll: status {answer.status}")
            case never:
                assert_never(never)

    async def _session(self, gate: Gate) -> _Session:
        line = Line(gate, "", self._progress)
        session_id = await self._text(line, wire.create_session(headers=self._headers), "session_id")
        sampling = wire.create_sampling_session(session_id, headers=self._headers)
        sampling_id = await self._text(line, sampling, "sampling_session_id")
        submit = wire.Sampling(sampling_session_id=sampling_id, seq_id=SEQ, prompt=prompt_tokens(NUMBER))
        heartbeat = Template(wire.heartbeat(session_id, headers=self._headers), gate.host).filled({})
        return _Session(submit=Template(submit.request("", self._headers), gate.host), heartbeat=heartbeat, line=line)

    async def _text(self, line: Line, request: Request, key: str) -> str:
        try:
            answer = await line.ask(Template(request, line.gate.host).filled({}), _SESSION_S)
        except BrokenError as error:
            raise NoSessionError(f"{line.gate.host} gave no {key}: {error}") from None
        if answer is None or (found := text_in(_reply(answer), key)) is None:
            line.close()
            said = f"no answer in {_SESSION_S:g} s" if answer is None else f"{answer.status} with {answer.body[:80]!r}"
            raise NoSessionError(f"{line.gate.host} gave no {key}: {said}; expected one that speaks tinker")
        return found


def kind_of(says: str) -> str:
    """The same for all failures of one kind: what a server says of one may name numbers and addresses of its own."""
    return f"failed: {_NUMBERS.sub('N', says)[:_SHOWN]}"


def _is_again(answer: Answer) -> bool:
    return answer.status in _AGAIN or answer.status >= 500


def _reply(answer: Answer) -> Reply:
    """As those read it who judge one answer at a time."""
    headers = (("content-type", answer.media.decode("latin-1")),)
    return Reply(arrival=Arrival.WHOLE, status=answer.status, headers=headers, body=answer.body)
