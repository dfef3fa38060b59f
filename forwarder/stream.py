"""A streamed answer, checked event by event as it passes: it is a success only if its last word says so.

`[DONE]` is kept back until the body has ended as its framing says it must: a caller that sees it has it all.
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass

from forwarder.body import Body, CutError
from forwarder.evidence import Evidence, Kind, excerpt
from forwarder.request import Asked
from forwarder.shapes import Part, ShapeError, parts_in
from forwarder.sse import OverlongEventError, SseEvent, SseParser
from forwarder.validate import InvalidResultError, wrong_with_finish, wrong_with_lengths, wrong_with_tokens

DONE = b"[DONE]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """What one event adds to one choice."""

    index: int
    text: str
    finish_reason: str | None = None
    token_ids: tuple[int, ...] | None = None
    token_logprobs: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamEvent:
    """One event of a stream. `raw`: the router's bytes, unchanged; a comment or a count of tokens adds nothing to any
    choice. `done`: it is the last one, and all that was asked for has come.
    """

    raw: bytes
    deltas: tuple[Delta, ...] = ()
    done: bool = False


class LostStreamError(Exception):
    """A stream has begun and cannot be believed to its end; `evidence` says why."""

    def __init__(self, evidence: Evidence) -> None:
        super().__init__(evidence.says)
        self.evidence = evidence


async def events_of(body: Body, asked: Asked, max_event_bytes: int) -> AsyncGenerator[StreamEvent, None]:
    """The events of a stream, each as soon as it has come whole and is found right. Raises LostStreamError."""
    parser, check = SseParser(max_event_bytes), StreamCheck(asked)
    last: StreamEvent | None = None
    try:
        ended = False
        while not ended:
            piece = await body.piece()
            ended = not piece
            for event in parser.end() if ended else parser.feed(piece):
                checked = check.take(event)
                if checked.done:
                    last = checked
                elif last is None:
                    yield checked
        check.end(parser.unfinished)
    except CutError as error:
        says = f"its stream is not whole after {check.events} events: {error}"
        raise _lost(body, Kind.RESULT_CUT, says) from None
    except (InvalidResultError, OverlongEventError) as error:
        raise _lost(body, Kind.RESULT_INVALID, f"in its stream, after {check.events} events, {error}") from None
    if last is not None:  # else check.end has raised
        yield last


def _lost(body: Body, kind: Kind, says: str) -> LostStreamError:
    says = f"{body.status} from {body.url}, but {says}"
    return LostStreamError(Evidence(kind=kind, says=says, url=body.url, status=body.status))


class StreamCheck:
    """What has come so far of a stream, as far as the rest depends on it. `events`: how many were found right."""

    def __init__(self, asked: Asked) -> None:
        self.events = 0
        self._asked = asked
        self._id: str | None = None
        self._tokens = [0] * asked.choices
        self._finished: set[int] = set()
        self._done = False

    def take(self, event: SseEvent) -> StreamEvent:
        """The next event, if it is right. Raises InvalidResultError."""
        if event.data is None:
            return StreamEvent(raw=event.raw)
        if self._done:
            raise InvalidResultError(f"something follows {DONE.decode()}: {excerpt(event.data)}")
        if event.data == DONE:
            self._done = True
            self._check_finished()
            return StreamEvent(raw=event.raw, done=True)
        try:
            id_, parts = parts_in(event.data, self._asked.api, event=True)
        except ShapeError as error:
            raise InvalidResultError(f"an event is {error}: {excerpt(event.data)}") from None
        self._check_id(id_)
        deltas = tuple(self._delta(part, event.data) for part in parts)
        self.events += 1
        return StreamEvent(raw=event.raw, deltas=deltas)

    def end(self, unfinished: bytes) -> None:
        """The body has ended, as its framing said it would. Raises InvalidResultError when the stream has not."""
        if unfinished.strip():
            raise InvalidResultError(f"it ends inside an event: {excerpt(unfinished)}")
        if not self._done:
            raise InvalidResultError(f"it ends without {DONE.decode()}")

    def _check_id(self, id_: str | None) -> None:
        """All events of a stream have one id: another one would be another request's."""
        if self._id is not None and id_ != self._id:
            raise InvalidResultError(f"an event has the id {id_!r}; expected {self._id!r}, as before")
        self._id = id_

    def _delta(self, part: Part, data: bytes) -> Delta:
        wrong = self._wrong_with(part)
        if wrong is not None:
            raise InvalidResultError(f"an event is wrong: {wrong}: {excerpt(data)}")
        index = part.index or 0
        self._tokens[index] += len(part.token_ids or ())
        if part.finish_reason is not None:
            self._finished.add(index)
        return Delta(
            index=index,
            text=part.text,
            finish_reason=part.finish_reason,
            token_ids=part.token_ids,
            token_logprobs=part.token_logprobs,
        )

    def _wrong_with(self, part: Part) -> str | None:
        index = part.index or 0
        if not 0 <= index < self._asked.choices:
            return f"choice {index}; expected 0 to {self._asked.choices - 1}, as was asked for"
        if index in self._finished:
            return f"choice {index} goes on after its finish_reason"
        if part.finish_reason is not None and (wrong := wrong_with_finish(part.finish_reason, self._asked)):
            return wrong
        return wrong_with_tokens(part, self._asked) if part.text else wrong_with_lengths(part)

    def _check_finished(self) -> None:
        for index in range(self._asked.choices):
            if index not in self._finished:
                raise InvalidResultError(f"{DONE.decode()} before a finish_reason of choice {index}")
            if self._asked.token_ids and self._asked.some_tokens and not self._tokens[index]:
                raise InvalidResultError(f"choice {index} has no token_ids, though max_tokens is not 0")
