"""The ASGI application. It has no BaseHTTPMiddleware, which would hide that a caller has left."""

from collections.abc import Awaitable, Callable
from functools import partial

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from forwarder.api import openai_api, sessions_api
from forwarder.api.activity import Activity
from forwarder.api.answers import answer
from forwarder.api.asample_api import asample
from forwarder.api.refusals import HANDLERS
from forwarder.api.retrieve_api import retrieve_future
from forwarder.api.service import Service
from forwarder.api.testing import ClockApi
from forwarder.futures.clock import ManualClock

_SAMPLING = "/api/v1/"
_Handler = Callable[[Service, Request], Awaitable[Response]]
_POSTS: dict[str, _Handler] = {
    "client/config": sessions_api.config,
    "client/dynamic_config": sessions_api.dynamic_config,
    "create_session": sessions_api.create_session,
    "create_sampling_session": sessions_api.create_sampling_session,
    "session_heartbeat": sessions_api.session_heartbeat,
    "telemetry": sessions_api.telemetry,
    "asample": asample,
    "retrieve_future": retrieve_future,
}
_GETS: dict[str, _Handler] = {
    "get_server_capabilities": sessions_api.get_server_capabilities,
    "samplers/{sampler_id}": sessions_api.sampler,
}


def app_of(service: Service, clock: ManualClock | None = None) -> ASGIApp:
    """All routes of a service; with a clock that is moved by hand, those that move it too."""

    async def healthz(_: Request) -> Response:
        return answer({"in_flight": service.in_flight})

    routes = [
        *(Route(_SAMPLING + path, partial(handler, service), methods=["POST"]) for path, handler in _POSTS.items()),
        *(Route(_SAMPLING + path, partial(handler, service), methods=["GET"]) for path, handler in _GETS.items()),
        *openai_api.routes_of(service),
        Route("/healthz", healthz, methods=["GET"]),
        Route("/metrics", service.metrics.answer, methods=["GET"]),
    ]
    if clock is not None:
        moved = ClockApi(service, clock)
        routes.append(Route("/test/settle", moved.settle, methods=["POST"]))
        routes.append(Route("/test/advance", moved.advance, methods=["POST"]))
    return _working(Starlette(routes=routes, exception_handlers=HANDLERS), service.activity)


def _working(app: ASGIApp, activity: Activity) -> ASGIApp:
    """Counts the handlers of the sampling API as at work."""

    async def counted(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"].startswith(_SAMPLING):
            with activity.working():
                await app(scope, receive, send)
        else:
            await app(scope, receive, send)

    return counted
