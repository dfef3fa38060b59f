"""POST /api/v1/asample: takes an operation on, answers with the id of its future at once, and forwards it meanwhile."""

from starlette.requests import Request
from starlette.responses import Response

from forwarder.api.answers import RefusedError, answer, refusal
from forwarder.api.refusals import refused_by_store
from forwarder.api.service import Service
from forwarder.futures.errors import StoreError
from forwarder.sampling.asample import SampleRequest, WireError, sample_request


async def asample(service: Service, request: Request) -> Response:
    """The id of the operation's future: the first one, if it was submitted before. Whatever is refused has not run."""
    try:
        asked = _asked(service, await service.incoming.body(request))
        submitted = await service.futures.submit(asked.key, asked.digest, asked.cost_bytes, asked.held_bytes)
    except StoreError as error:
        return _refusal(refused_by_store(error))
    except RefusedError as error:
        return _refusal(error)
    if submitted.fresh:
        service.forwards.start(submitted.request_id, asked)  # without a wait between: nobody else would
    return answer({"request_id": submitted.request_id})


def _asked(service: Service, body: bytes) -> SampleRequest:
    try:
        return sample_request(body, lambda session: service.futures.sampling_session(session).model)
    except WireError as error:
        raise RefusedError(error.status, "invalid", error.says) from None


def _refusal(error: RefusedError) -> Response:
    return refusal(error.status, error.kind, error.says, executed="no")
