"""What the replies to a submit and to a poll mean to a caller of the protocol. It judges nothing."""

import json
from dataclasses import dataclass
from typing import Any

from suites.history import Arrival
from suites.reading import Reply
from suites.tinker.sample import NoSampleError, Sample, sample_in
from suites.tinker.wire import PROTOBUF

_SHOWN_BYTES = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitted:
    """The server has taken it on, as the future of that id."""

    request_id: str
    reply: Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """The result. The bytes that every poller has to get are `reply.body`."""

    sample: Sample
    reply: Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class NotYet:
    """Nothing has landed: a caller polls again (408, 5xx, or `try_again`)."""

    reply: Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """It has landed, and this poll allowed an answer without it: a caller asks for all of it (`complete_metadata`)."""

    reply: Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class FutureFailed:
    """The operation has failed; says: in the server's words."""

    says: str
    category: str
    reply: Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """There is no such future, or none any more (404). says: which, in the server's words."""

    says: str
    reply: Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Any other whole answer that is none of the protocol's successes; says: what is wrong with it."""

    says: str
    reply: Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """No whole answer has come: `reply.arrival` says what did."""

    reply: Reply


SubmitAnswer = Submitted | Refused | Lost
PollAnswer = Sampled | NotYet | Size | FutureFailed | Gone | Refused | Lost


def submit_answer(reply: Reply) -> SubmitAnswer:
    """What that reply to `asample` says."""
    if reply.arrival is not Arrival.WHOLE:
        return Lost(reply=reply)
    match reply.status, object_in(reply):
        case 200, {"request_id": str(request_id)}:
            return Submitted(request_id=request_id, reply=reply)
        case _:
            return Refused(says=_answered(reply), reply=reply)


def poll_answer(reply: Reply) -> PollAnswer:
    """What that reply to `retrieve_future` says."""
    if reply.arrival is not Arrival.WHOLE:
        return Lost(reply=reply)
    status = reply.status or 0
    if status == 408 or status >= 500:
        return NotYet(reply=reply)
    if status == 404:
        return Gone(says=_shown(reply), reply=reply)
    if status != 200:
        return Refused(says=_answered(reply), reply=reply)
    return _sampled(reply) if media_of(reply) == PROTOBUF else _told(reply)


def media_of(reply: Reply) -> str:
    """The type of its content, without parameters; empty where its head names none, or several."""
    types = [value for name, value in reply.headers if name == "content-type"]
    return types[0].partition(";")[0].strip().lower() if len(types) == 1 else ""


def text_in(reply: Reply, key: str) -> str | None:
    """The text under that key of a 200 with a JSON object; None for anything else."""
    found = object_in(reply).get(key) if reply.arrival is Arrival.WHOLE and reply.status == 200 else None
    return found if isinstance(found, str) else None


def _sampled(reply: Reply) -> Sampled | Refused:
    try:
        return Sampled(sample=sample_in(reply.body), reply=reply)
    except NoSampleError as error:
        return Refused(says=f"a result that cannot be read: {error}", reply=reply)


def _told(reply: Reply) -> PollAnswer:
    match object_in(reply):
        case {"type": "try_again"}:
            return NotYet(reply=reply)
        case {"status": "complete_metadata"}:
            return Size(reply=reply)
        case {"error": str(says), "category": str(category)}:
            return FutureFailed(says=says, category=category, reply=reply)
        case _:
            return Refused(says=_answered(reply), reply=reply)


def object_in(reply: Reply) -> dict[str, Any]:
    """The JSON object that is its body; an empty one for anything else."""
    try:
        found = json.loads(reply.body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _answered(reply: Reply) -> str:
    return f"{reply.status} with {_shown(reply)}"


def _shown(reply: Reply) -> str:
    return repr(reply.body[:_SHOWN_BYTES])
