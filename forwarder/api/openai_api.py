"""POST /v1/completions and /v1/chat/completions: the router's answer, byte for byte, or an error.

An error claims no more than the evidence proves: "executed" is "no", "unknown" or "yes".

A caller that leaves changes nothing about an attempt under way: it goes on to its end, because ending it would
not undo the work. But for a caller that has left nothing is sent again. (A stream ends with its caller.)
"""

from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from forwarder.api.answers import JSON_TYPE, RefusedError, refusal
from forwarder.api.failures import Failure, failure_of
from forwarder.api.incoming import CallerLeftError
from forwarder.api.refusals import refused_by_store
from forwarder.api.service import Service
from forwarder.errors import ForwardError, RequestError
from forwarder.futures.errors import StoreError
from forwarder.futures.outcome import Executed
from forwarder.relay import Relay
from forwarder.request import Api, request_of

_ENDING = Failure(
    status=503, kind="not_executed", says="not executed: the server is ending", executed=Executed.NO, attempts=0
)


def routes_of(service: Service) -> list[Route]:
    """Where it is served."""
    return [Route(api.path, partial(_answer, service, api), methods=["POST"]) for api in Api]


async def _answer(service: Service, api: Api, request: Request) -> Response:
    try:
        with service.activity.working():
            body = await service.incoming.body(request)
    except CallerLeftError:
        return Response(status_code=400)  # half a request, and nobody to tell
    except StoreError as error:
        return _refused(refused_by_store(error))
    except RefusedError as error:
        return _refused(error)
    if service.ending.begun:
        return _failed(_ENDING)
    forwarder = service.forwarder
    try:
        prepared = request_of(body, api)
        if prepared.asked.stream:
            return Relay(forwarder.stream(prepared), partial(_counted, service, api))
        completion = await forwarder.complete(prepared, abandoned=request.is_disconnected)
    except (RequestError, ForwardError) as error:
        return _counted(service, api, error)
    service.metrics.operation(api.value, "completed")
    return Response(completion.raw, media_type=JSON_TYPE)


def _refused(error: RefusedError) -> Response:
    return refusal(error.status, error.kind, error.says, executed=Executed.NO.value, attempts=0)


def _counted(service: Service, api: Api, error: ForwardError | RequestError) -> Response:
    failure = failure_of(error)
    service.metrics.operation(api.value, failure.kind)
    return _failed(failure)


def _failed(failure: Failure) -> Response:
    return refusal(
        failure.status, failure.kind, failure.says, executed=failure.executed.value, attempts=failure.attempts
    )
