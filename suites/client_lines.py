"""What is said to the adapter of a client, and what it says: one JSON object a line, in each direction."""

import base64
import binascii
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from faults.evidence import Marker
from faults.form import Api, Form
from suites.events import streamed_in
from suites.history import Arrival, Kind, Outcome
from suites.outcomes import outcome_of
from suites.reading import Reply
from suites.returned import Returned, read

SHOWN_BYTES = 200
READY = b'{"ready": true}'
_EXPECTED = (
    '{"id": N} with `status` and `body` (or `body_base64`), `returned`, or `events`, and `error` where the call raised'
)


class LineError(ValueError):
    """A line that is no outcome; the message quotes it and says what was expected."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """One operation: a POST of `body`, as it is, to that path behind the base URL."""

    id: int
    path: str
    headers: Mapping[str, str]
    body: str
    stream: bool


class Said(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What came of the operation of that id: a response (status, headers, and the body as its caller holds it), an
    object that was made of one, or the events of a stream as objects. error: the class of what the call raised, with
    its message; what stands beside it had come before. Raises ValueError for a line that says no one thing.
    """

    id: int
    status: int | None = None
    headers: dict[str, str] = {}
    body: str | None = None
    body_base64: str | None = None
    returned: Any = msgspec.UNSET
    events: list[Any] | None = None
    error: str = ""
    message: str = ""

    def __post_init__(self) -> None:
        said = [self.status is not None, self.returned is not msgspec.UNSET, self.events is not None]
        if sum(said) > 1 or not (any(said) or self.error):
            raise ValueError("it says no one thing")
        if self.status is None and (self.body is not None or self.body_base64 is not None):
            raise ValueError("a body without a status")
        if self.body is not None and self.body_base64 is not None:
            raise ValueError("two bodies")
        if self.error and self.returned is not msgspec.UNSET:
            raise ValueError("a call that raised has returned nothing")

    @property
    def content(self) -> bytes:
        """The body. Raises ValueError for base64 that is none."""
        if self.body_base64 is None:
            return (self.body or "").encode("utf-8", "surrogatepass")
        return base64.b64decode(self.body_base64, validate=True)

    @property
    def words(self) -> str:
        """What it raised, for reports."""
        return ": ".join(filter(None, (self.error, self.message)))


_decode = msgspec.json.Decoder(Said).decode


def line_of(asked: Asked) -> bytes:
    """The operation as its adapter reads it."""
    return msgspec.json.encode(asked) + b"\n"


def said_in(line: bytes) -> Said:
    """Raises LineError for a line that is no outcome."""
    try:
        said = _decode(line)
        said.content  # noqa: B018  # read here, so that what cannot be read is found here
    except (msgspec.MsgspecError, binascii.Error, ValueError) as error:
        shown = line[:SHOWN_BYTES].decode(errors="replace").rstrip("\n")
        raise LineError(f"{shown!r} on its stdout ({error}); expected {_EXPECTED}") from None
    return said


def outcome_in(said: Said, number: int, form: Form, not_executed: Sequence[Marker], began_ns: int) -> Outcome:
    """The outcome of the operation of that number, which was asked for in that form and has ended just now."""
    if said.status is not None:
        headers = tuple((name.lower(), value) for name, value in said.headers.items())
        reply = Reply(
            arrival=Arrival.CUT if said.error else Arrival.WHOLE,
            status=said.status,
            headers=headers,
            body=said.content,
            says=said.words,
        )
        return outcome_of(reply, number, form, not_executed, began_ns)
    held = _held(said, form.api)
    return Outcome(
        operation=number,
        kind=Kind.UNKNOWN if said.error else Kind.OK,
        arrival=Arrival.RETURNED,
        form=form,
        tokens=held.tokens,
        text=held.text,
        says=said.words or _ended(said, held),
        invoked_at_ns=began_ns,
        ended_at_ns=time.monotonic_ns(),
    )


def _ended(said: Said, held: Returned) -> str:
    """How a call was over that raised nothing, where its tokens do not say it all."""
    if said.events is not None:
        return f"its stream ended without an error after {len(said.events)} event{'' if len(said.events) == 1 else 's'}"
    return "" if held.text is not None else f"it returned {json.dumps(said.returned)[:SHOWN_BYTES]}"


def _held(said: Said, api: Api) -> Returned:
    """Tokens and text of the first choice, of an object or of the events that came."""
    if said.events is None:
        return Returned() if said.returned is msgspec.UNSET else read(said.returned, api)
    body = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in said.events)
    tokens, text = streamed_in(body, api).choices.get(0, ((), ""))
    return Returned(tokens=tokens, text=text)
