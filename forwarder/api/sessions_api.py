"""Sessions, sampling sessions, and what a caller asks of a server beside sampling."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from forwarder.api.answers import RefusedError, answer
from forwarder.api.service import Service

_CHECKPOINT = "tinker://"  # a model_path; any other model is a base model


class SessionBody(msgspec.Struct):
    """create_session: nothing of it is needed."""


class SamplingSessionBody(msgspec.Struct):
    """create_sampling_session: one of base_model and model_path."""

    session_id: str
    base_model: str | None = None
    model_path: str | None = None


class HeartbeatBody(msgspec.Struct):
    """session_heartbeat."""

    session_id: str


class ClientBody(msgspec.Struct):
    """client/config, client/dynamic_config and telemetry: nothing of it is needed."""


async def create_session(service: Service, request: Request) -> Response:
    """A new session."""
    await service.incoming.fields(request, SessionBody)
    return answer({"session_id": await service.futures.create_session()})


async def create_sampling_session(service: Service, request: Request) -> Response:
    """A new sampling session for a model, in a session."""
    asked = await service.incoming.fields(request, SamplingSessionBody)
    model = asked.model_path or asked.base_model
    if not model:
        raise RefusedError(422, "invalid", "neither base_model nor model_path; expected one of them, as text")
    return answer({"sampling_session_id": await service.futures.create_sampling_session(asked.session_id, model)})


async def session_heartbeat(service: Service, request: Request) -> Response:
    """The session lives on."""
    asked = await service.incoming.fields(request, HeartbeatBody)
    await service.futures.heartbeat(asked.session_id)
    return answer({"type": "session_heartbeat"})


async def sampler(service: Service, request: Request) -> Response:
    """What a sampling session samples from."""
    sampler_id = request.path_params["sampler_id"]
    model = service.futures.sampling_session(sampler_id).model
    path = model if model.startswith(_CHECKPOINT) else None
    return answer({"sampler_id": sampler_id, "base_model": model, "model_path": path})


async def telemetry(service: Service, request: Request) -> Response:
    """It is taken, and nothing is kept."""
    await service.incoming.fields(request, ClientBody)
    return answer({"status": "accepted"})


async def get_server_capabilities(service: Service, _: Request) -> Response:
    """The models that it offers."""
    return answer({"supported_models": [{"model_name": name} for name in service.models]})


async def config(service: Service, request: Request) -> Response:
    """No flag of the client is changed."""
    await service.incoming.fields(request, ClientBody)
    return answer({})


async def dynamic_config(service: Service, request: Request) -> Response:
    """The same, and when to ask again."""
    await service.incoming.fields(request, ClientBody)
    return answer({"refresh_interval_sec": 300})
