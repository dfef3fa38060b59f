"""Mutants that pass streams on: the server that does it right, in pieces small enough to break one at a time."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace

import h11

from suites.run import Promise
from suites.subject import Address, Instance
from tests.mutants.forwarder import Forwarder, is_unapplied
from tests.mutants.proxy import NOT_EXECUTED, UNKNOWN, Answering, ServedInstance, framed
from tests.mutants.sending import Got, Link, Seen, request_bytes
from tests.mutants.subject import IN_PROCESS, TIMEOUT_MS, MutantSubject, spec_of

HEAD = b"HTTP/1.1 200 -\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
LAST_CHUNK = b"0\r\n\r\n"
DONE = b"data: [DONE]\n\n"
ERROR = b'data: {"error":{"message":"lost"}}\n\n'


class LostError(Exception):
    """The stream of the router cannot be believed to its end; `seen` says how it failed."""

    def __init__(self, seen: Seen) -> None:
        super().__init__(seen.value)
        self.seen = seen


class Streamer:
    """Passes each event on as it comes. One that was lost ends with an error event, and short of its last chunk."""

    attempts = 2

    def __init__(self, forwarder: Forwarder) -> None:
        self.forwarder = forwarder

    async def pass_on(self, body: bytes, writer: asyncio.StreamWriter) -> None:
        """One streamed operation, from its request to the end of its answer."""
        begun = False
        try:
            async with aclosing(self.events(body)) as events:
                async for event in events:
                    writer.write((b"" if begun else HEAD) + chunk(event))
                    await writer.drain()
                    begun = True
            writer.write(LAST_CHUNK)
        except LostError as lost:
            writer.write(self.ending(lost) if begun else framed(502, "application/json", UNKNOWN))
        except UnappliedError:
            writer.write(framed(503, "application/json", NOT_EXECUTED))

    def ending(self, lost: LostError) -> bytes:
        """What follows the last event of a stream that was lost."""
        del lost
        return chunk(ERROR)

    async def events(self, body: bytes) -> AsyncGenerator[bytes, None]:
        """The events of a stream, sent again only where the first sending was never applied. Raises LostError."""
        upstreams = self.forwarder.upstreams
        for upstream in upstreams[: self.attempts]:
            link = await self.forwarder.dial(upstream)
            if isinstance(link, Seen):
                continue
            try:
                async with aclosing(self.read(link, body)) as events:
                    async for event in events:
                        yield event
                return
            except UnappliedError:
                continue
            finally:
                link.close()
        raise UnappliedError

    async def read(self, link: Link, body: bytes) -> AsyncGenerator[bytes, None]:
        """The events of one sending, `[DONE]` only when the answer has ended whole. Raises LostError."""
        buffer, done = b"", False
        async with aclosing(pieces_of(link, body, self.forwarder.timeout_s)) as pieces:
            async for piece in pieces:
                *events, buffer = (buffer + piece).split(b"\n\n")
                for event in events:
                    done = done or event + b"\n\n" == DONE
                    if not done:
                        yield self.checked(event) + b"\n\n"
        if not done:
            raise LostError(Seen.CUT)
        yield DONE

    def checked(self, event: bytes) -> bytes:
        """The event, if it is none of an error. Raises LostError."""
        if b'"error"' in event or b'"choices"' not in event:
            raise LostError(Seen.WHOLE)
        return event


class UnappliedError(Exception):
    """No sending was ever applied."""


async def pieces_of(link: Link, body: bytes, timeout_s: float) -> AsyncGenerator[bytes, None]:
    """The body of a stream that answers the request, as it comes. Raises LostError and UnappliedError."""
    http = h11.Connection(h11.CLIENT)
    status, content = 0, b""
    try:
        await link.send(request_bytes(http, link.upstream, body))
        while not isinstance(event := http.next_event(), h11.EndOfMessage):
            if event is h11.NEED_DATA:
                async with asyncio.timeout(timeout_s):
                    http.receive_data(await link.receive())
            elif isinstance(event, h11.Response):
                status = event.status_code
                is_stream = dict(event.headers).get(b"content-type", b"").startswith(b"text/event-stream")
                if status == 200 and not is_stream:
                    raise LostError(Seen.WHOLE)
            elif isinstance(event, h11.Data):
                content += bytes(event.data)
                if status == 200:
                    yield bytes(event.data)
    except (OSError, h11.RemoteProtocolError):
        raise LostError(Seen.CUT) from None
    if status != 200:
        unapplied = is_unapplied(Got(seen=Seen.WHOLE, status=status, body=content))
        raise UnappliedError if unapplied else LostError(Seen.WHOLE)


def chunk(data: bytes) -> bytes:
    """One chunk (RFC 9112 s7.1)."""
    return b"%x\r\n%b\r\n" % (len(data), data)


class EndsLostStreamsWithDone(Streamer):
    """A stream that broke gets the end that a whole one has."""

    def ending(self, lost: LostError) -> bytes:
        return chunk(DONE) + LAST_CHUNK


class EndsLostStreamsCleanly(Streamer):
    """A stream that broke simply ends, as its framing says it must."""

    def ending(self, lost: LostError) -> bytes:
        return LAST_CHUNK


class DropsErrorEvents(Streamer):
    """An error event is no event: what comes behind it is the end."""

    def checked(self, event: bytes) -> bytes:
        return b": " if b'"error"' in event else super().checked(event)


class FlushesTwice(Streamer):
    """What it had in hand when a stream broke is passed on once more."""

    async def events(self, body: bytes) -> AsyncGenerator[bytes, None]:
        last = b""
        try:
            async with aclosing(super().events(body)) as events:
                async for event in events:
                    last = event
                    yield event
        except LostError:
            if last:
                yield last
            raise


class ResumesCutStreams(Streamer):
    """A stream that broke is sent again, and goes on at the event that had not come."""

    async def events(self, body: bytes) -> AsyncGenerator[bytes, None]:
        passed = 0
        for _ in range(self.attempts):
            seen = 0
            try:
                async with aclosing(super().events(body)) as events:
                    async for event in events:
                        seen += 1
                        if seen > passed:
                            passed += 1
                            yield event
                return
            except LostError:
                if not passed:
                    raise
        raise LostError(Seen.CUT)


class GivesStreamsADeadline(Streamer):
    """Its read timeout is a deadline on the whole stream."""

    async def events(self, body: bytes) -> AsyncGenerator[bytes, None]:
        loop = asyncio.get_running_loop()
        until = loop.time() + self.forwarder.timeout_s
        async with aclosing(super().events(body)) as events:
            async for event in events:
                if loop.time() > until:
                    raise LostError(Seen.SILENCE)
                yield event


STREAMERS: Mapping[str, type[Streamer]] = {
    "correct-streamer": Streamer,
    "ends-lost-streams-with-done": EndsLostStreamsWithDone,
    "ends-lost-streams-cleanly": EndsLostStreamsCleanly,
    "drops-error-events": DropsErrorEvents,
    "flushes-twice": FlushesTwice,
    "resumes-cut-streams": ResumesCutStreams,
    "gives-streams-a-deadline": GivesStreamsADeadline,
}


class StreamingInstance(ServedInstance):
    """A server on a port of its own, which answers what is no stream as any other."""

    def __init__(self, streamer: Streamer) -> None:
        super().__init__(Answering(streamer.forwarder))
        self._streamer = streamer

    async def answer(self, body: bytes, writer: asyncio.StreamWriter) -> None:
        if not json.loads(body)["stream"]:
            await super().answer(body, writer)
            return
        self._streamer.forwarder.in_flight += 1
        try:
            await self._streamer.pass_on(body, writer)
        finally:
            self._streamer.forwarder.in_flight -= 1


def streaming(name: str, kind: type[Streamer]) -> MutantSubject:
    """A mutant that is called over HTTP and passes streams on."""

    async def start(upstreams: Sequence[Address]) -> Instance:
        instance = StreamingInstance(kind(Forwarder(upstreams, TIMEOUT_MS / 1000)))
        await instance.listen()
        return instance

    spec = spec_of(name, Promise.ANSWERING, in_process=False)
    reach = {key: why for key, why in spec.reach.items() if key not in IN_PROCESS}
    return MutantSubject(spec=replace(spec, reach=reach), starting=start)
