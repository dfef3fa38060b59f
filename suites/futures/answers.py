"""What a reply says to a caller of futures: every status and body falls into one kind, and none is judged here."""

from collections.abc import Sequence

from fake_router.content import MAGIC
from suites.futures.record import Answer, Kind
from suites.history import Arrival
from suites.reading import Reply
from suites.tinker.answers import media_of, object_in
from suites.tinker.sample import NoSampleError, sample_in
from suites.tinker.wire import PROTOBUF

_SAYS = 200  # characters of an answer that is shown


def submitted(reply: Reply | None) -> Answer:
    """The answer to a submit; None: none came in time."""
    if reply is None or reply.arrival is not Arrival.WHOLE:
        return _nothing(reply)
    request_id = object_in(reply).get("request_id")
    if reply.status == 200 and isinstance(request_id, str) and request_id:
        return Answer(kind=Kind.TAKEN, status=200, body=reply.body, request_id=request_id)
    return _turned_down(reply)


def polled(reply: Reply | None) -> Answer:
    """The answer to a poll; None: none came in time."""
    if reply is None or reply.arrival is not Arrival.WHOLE:
        return _nothing(reply)
    said = object_in(reply)
    match reply.status, said:
        case 200, _ if media_of(reply) == PROTOBUF:
            return _result(reply)
        case (408, _) | (200, {"type": "try_again"}):
            return Answer(kind=Kind.TRY_AGAIN, status=reply.status or 0, body=reply.body)
        case 200, {"error": str(says)}:
            executed = said.get("executed")
            return Answer(
                kind=Kind.FAILED,
                status=200,
                body=reply.body,
                says=says[:_SAYS],
                executed=executed if isinstance(executed, str) else "",
            )
        case 200, {"sequences": [{"tokens": list(tokens)}, *_]}:
            return _naming(reply, tokens, json=True)
        case _:
            return _turned_down(reply)


def _result(reply: Reply) -> Answer:
    """The tokens of a result name operation and execution, as the router wrote them."""
    try:
        sample = sample_in(reply.body)
    except NoSampleError as error:
        return Answer(kind=Kind.OTHER, status=200, body=reply.body, says=f"a result that cannot be read: {error}")
    if not sample.sequences:
        return Answer(kind=Kind.OTHER, status=200, body=reply.body, says="a result without a sequence")
    return _naming(reply, sample.sequences[0].tokens, json=False)


def _naming(reply: Reply, tokens: Sequence[object], *, json: bool) -> Answer:
    match tokens:
        case [magic, int(operation), int(execution), *_] if magic == MAGIC:
            return Answer(
                kind=Kind.RESULT, status=200, body=reply.body, operation=operation, execution=execution, json=json
            )
        case _:
            return Answer(kind=Kind.RESULT, status=200, body=reply.body, json=json)


def _turned_down(reply: Reply) -> Answer:
    status = reply.status or 0
    if status == 404:
        kind = Kind.GONE
    elif status in (429, 503):
        kind = Kind.BUSY
    else:
        kind = Kind.REFUSED if 400 <= status < 500 and status != 410 else Kind.OTHER
    return Answer(kind=kind, status=status, body=reply.body, says=_shown(reply))


def _nothing(reply: Reply | None) -> Answer:
    return Answer(kind=Kind.NOTHING, says="nothing in time" if reply is None else reply.says or str(reply.arrival))


def _shown(reply: Reply) -> str:
    """Its words, where it has any; of JSON, the message that it holds."""
    said = object_in(reply)
    error = said.get("error")
    told = error.get("message") if isinstance(error, dict) else error
    found = told if isinstance(told, str) else said.get("detail")
    return (found if isinstance(found, str) else reply.body.decode("utf-8", "replace"))[:_SAYS]
