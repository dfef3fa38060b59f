"""POST /api/v1/retrieve_future: a long poll for the result of one operation."""

import msgspec
import orjson
from starlette.requests import Request
from starlette.responses import Response

from forwarder.api.answers import JSON_TYPE, RefusedError, answer, refusal
from forwarder.api.delivery import Delivery, Departed, NoResult
from forwarder.api.service import Service
from forwarder.futures.outcome import Failed, Gone, Sampled
from forwarder.sampling.encode import json_of

PROTOBUF_TYPE = "application/x-protobuf"


class RetrieveBody(msgspec.Struct):
    """What is read of it. The whole result is always sent, which `allow_metadata_only` permits."""

    request_id: str


async def retrieve_future(service: Service, request: Request) -> Response:
    """The result, once it is there: its bytes as they were encoded once, or JSON unless protobuf is accepted."""
    asked = await service.incoming.fields(request, RetrieveBody)
    request_id = asked.request_id
    if not (request_id.isascii() and request_id.isdecimal()):
        raise RefusedError(422, "invalid", f"request_id is {request_id[:100]!r}; expected a number in decimal digits")
    match await service.polls.result(request_id, request.receive):
        case NoResult.LEFT:
            service.metrics.poll("left")
            return Departed()
        case NoResult.HELD:
            service.metrics.poll("try_again")
            return _try_again()
        case Gone(why=why):
            service.metrics.poll("gone")
            return refusal(404, why.name.lower(), f"request_id {request_id[:100]}: {why.value}")
        case Failed() | Sampled() as outcome:
            return _delivery(service, request, request_id, outcome)


def _try_again() -> Response:
    says = "no result yet; expected is another poll for this request_id"
    return answer({"type": "try_again", "error": {"type": "try_again", "message": says}}, 408)


def _delivery(service: Service, request: Request, request_id: str, outcome: Sampled | Failed) -> Response:
    def ended(possibly_delivered: bool) -> None:
        if possibly_delivered:
            service.futures.possibly_delivered(request_id)
        ending = "failed" if isinstance(outcome, Failed) else "delivered"
        service.metrics.poll(ending if possibly_delivered else "left")

    match outcome:
        case Sampled(payload=payload):
            if _accepts_protobuf(request):
                return Delivery(payload, PROTOBUF_TYPE, service.activity, ended)
            return Delivery(json_of(payload), JSON_TYPE, service.activity, ended)
        case Failed():
            content = {"error": outcome.says, "category": outcome.category, "executed": outcome.executed.value}
            return Delivery(orjson.dumps(content), JSON_TYPE, service.activity, ended)


def _accepts_protobuf(request: Request) -> bool:
    ranges = ",".join(request.headers.getlist("accept")).split(",")
    return any(each.partition(";")[0].strip().lower() == PROTOBUF_TYPE for each in ranges)
