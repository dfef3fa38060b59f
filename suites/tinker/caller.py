"""A caller of the Tinker protocol: each planned operation is submitted, and polled for until it has ended.

It sends as the SDK does, and judges nothing. One that is to leave abandons a poll in that way; then it comes back: it
sends its submit again under the same key, as the SDK does when a connection was lost, and polls for what that names.
"""

import asyncio
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from faults.evidence import Marker
from faults.plan import PlannedOperation
from suites.endpoint import Endpoint
from suites.history import Arrival, Heard, Outcome
from suites.leaving import Leave, until_told
from suites.reading import Reply
from suites.sent import sent_content
from suites.subject import Address
from suites.tinker.answers import Lost, NotYet, PollAnswer, Sampled, Size, SubmitAnswer, Submitted, submit_answer
from suites.tinker.ending import outcome_in
from suites.tinker.open_call import Departure
from suites.tinker.poll import Poll, open_poll, open_submit
from suites.tinker.session import NoSessionError, SamplingSession
from suites.tinker.wire import Sampling
from suites.workload import completion_request

_PAUSE_S = 0.01  # before a poll that follows one which said "not yet": the SDK makes none
_LONG_MS = 3_600_000  # the run's ceiling is shorter


@dataclass(frozen=True, slots=True, kw_only=True)
class TinkerCaller:
    """How one instance is called. again: a result that was delivered is asked for once more, since it is promised that
    it stays retrievable.
    """

    endpoint: Endpoint
    not_executed: Sequence[Marker] = ()
    again: bool = False
    session: SamplingSession = field(default_factory=SamplingSession)

    def through(self, way_in: Address) -> "TinkerCaller":
        """The same, which goes there: it leads to the instance."""
        return replace(self, endpoint=self.endpoint.through(way_in))

    async def call(
        self, planned: PlannedOperation, number: int, ceiling_ms: int, leave: Leave | None = None
    ) -> Outcome:
        """One operation, and what its caller sees of it. Never raises for what the subject does."""
        began_ns = time.monotonic_ns()
        prompt = completion_request(number, planned.form, planned.body_bytes)["prompt"]
        asking = _Asking(endpoint=self.endpoint, leave=leave)
        answer = await self._ended(asking, prompt, ceiling_ms)
        ended_ns = time.monotonic_ns()
        if self.again and isinstance(answer, Sampled):
            await asking.ask_again(ceiling_ms)
        left = leave is not None and leave.left.is_set()
        return replace(
            outcome_in(answer, number, self.not_executed),
            sent=sent_content({"prompt": prompt}),
            heard=tuple(asking.heard),
            left=left,
            came_back=left,
            invoked_at_ns=began_ns,
            ended_at_ns=ended_ns,
        )

    async def _ended(self, asking: "_Asking", prompt: Sequence[int], ceiling_ms: int) -> SubmitAnswer | PollAnswer:
        """How it ended, at the ceiling at the latest."""
        try:
            async with asyncio.timeout(ceiling_ms / 1000):
                key = await self.session.next_key(self.endpoint)
                sampling = Sampling(sampling_session_id=key.sampling_session_id, seq_id=key.seq_id, prompt=prompt)
                return await asking.ended(sampling)
        except NoSessionError as error:
            return Lost(reply=replace(error.reply, says=str(error)))
        except TimeoutError:
            return Lost(reply=Reply(arrival=Arrival.HUNG, says=f"no result within {ceiling_ms} ms; {asking.so_far}"))


@dataclass(slots=True, kw_only=True)
class _Asking:
    """One operation that is under way. heard: every answer to its submits and polls, in order."""

    endpoint: Endpoint
    leave: Leave | None
    heard: list[Heard] = field(default_factory=list)
    _request_id: str = ""
    _whole: bool = False  # it has landed, and is too large to come unasked

    @property
    def so_far(self) -> str:
        """What was heard, for reports."""
        return f"it heard {', '.join(heard.says for heard in self.heard[-4:]) or 'nothing'}"

    async def ended(self, sampling: Sampling) -> SubmitAnswer | PollAnswer:
        """Submit, and poll until it has ended."""
        taken = await self._submit(sampling)
        with ExitStack() as left:
            while isinstance(taken, Submitted):
                poll = await self._open_poll()
                left.enter_context(poll)  # one that is half-closed stays open until the end
                answer = await self._answer_to(poll)
                if answer is None:
                    taken = await self._submit(sampling)
                    continue
                poll.close()
                self._hear(answer.reply, poll=True)
                match answer:
                    case NotYet():
                        await asyncio.sleep(_PAUSE_S)
                    case Size():
                        self._whole = True
                    case _:
                        return answer
        return taken

    async def ask_again(self, within_ms: int) -> None:
        """One poll more."""
        with await self._open_poll() as poll:
            answer = await poll.answer(within_ms)
        self._hear(Reply(arrival=Arrival.HUNG) if answer is None else answer.reply, poll=True)

    async def _answer_to(self, poll: Poll) -> PollAnswer | None:
        """None: its caller was told to leave it before it came, and did."""
        if self.leave is None or self.leave.left.is_set():
            return await poll.answer(_LONG_MS)
        answer = await until_told(poll.answer(_LONG_MS), self.leave)
        if answer is None:
            poll.leave(Departure(self.leave.how.value))
            self.leave.left.set()
        return answer

    async def _submit(self, sampling: Sampling) -> SubmitAnswer:
        with await open_submit(self.endpoint, sampling) as call:
            reply = await call.reply(_LONG_MS)
        answer = submit_answer(reply or Reply(arrival=Arrival.HUNG))
        self._hear(answer.reply, poll=False)
        if isinstance(answer, Submitted):
            self._request_id = answer.request_id
        return answer

    async def _open_poll(self) -> Poll:
        polls = sum(heard.poll for heard in self.heard)
        return await open_poll(self.endpoint, self._request_id, iteration=polls, metadata_only=not self._whole)

    def _hear(self, reply: Reply, *, poll: bool) -> None:
        self.heard.append(Heard(poll=poll, arrival=reply.arrival, status=reply.status, body=reply.body))
