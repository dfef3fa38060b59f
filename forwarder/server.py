"""The forwarder as an HTTP server: /v1/completions and /v1/chat/completions in and out.

A success is the router's JSON or its events, byte for byte. Everything else is a JSON error that claims no more than
the evidence proves: "executed" is "no", "unknown" or "yes".

A caller that leaves changes nothing about an attempt under way: it goes on to its end, because ending it would
not undo the work. But for a caller that has left nothing is sent again. (A stream ends with its caller.)
"""

import logging
import socket
import sys
from collections.abc import Callable

import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from forwarder.client import Forwarder
from forwarder.errors import (
    ForwardError,
    MayHaveRunError,
    NotExecutedError,
    RejectedError,
    RequestError,
    ResultLostError,
    is_timeout,
)
from forwarder.relay import Relay
from forwarder.request import Api, request_of
from forwarder.validate import JSON_TYPE

_UNENDED = "ASGI callable returned without completing response."  # uvicorn of a stream that is cut on purpose


def app_of(forwarder: Forwarder) -> Starlette:
    """The ASGI application around a started forwarder. No BaseHTTPMiddleware: it hides that a caller has left."""

    def answers(api: Api) -> Route:
        async def answer(request: Request) -> Response:
            try:
                body = await request.body()
            except ClientDisconnect:
                return Response(status_code=400)  # half a request, and nobody to tell
            try:
                prepared = request_of(body, api)
                if prepared.asked.stream:
                    return Relay(forwarder.stream(prepared), _failed)
                completion = await forwarder.complete(prepared, abandoned=request.is_disconnected)
            except (RequestError, ForwardError) as error:
                return _failed(error)
            return Response(completion.raw, media_type=JSON_TYPE)

        return Route(api.path, answer, methods=["POST"])

    async def healthz(_: Request) -> Response:
        return Response(orjson.dumps({"in_flight": forwarder.in_flight}), media_type=JSON_TYPE)

    return Starlette(routes=[*map(answers, Api), Route("/healthz", healthz, methods=["GET"])])


def _failed(error: ForwardError | RequestError) -> Response:
    match error:
        case RequestError():
            return _error(400, "bad_request", str(error), executed="no", attempts=0)
        case NotExecutedError():
            return _error(503, "not_executed", error.says, executed="no", attempts=error.attempts)
        case MayHaveRunError():
            status = 504 if is_timeout(error.evidence) else 502
            return _error(status, "may_have_run", error.says, executed="unknown", attempts=error.attempts)
        case ResultLostError():
            return _error(502, "result_lost", error.says, executed="yes", attempts=error.attempts)
        case RejectedError():
            status = error.evidence.status or 502
            if status < 400:
                status = 502  # a redirect is between the router and us; the caller could not follow it
            return _error(status, "rejected", error.says, executed="unknown", attempts=error.attempts)
        case _:
            raise error


def _error(status: int, kind: str, message: str, *, executed: str, attempts: int) -> Response:
    error = {"type": kind, "message": message, "executed": executed, "attempts": attempts}
    return Response(orjson.dumps({"error": error}), status_code=status, media_type=JSON_TYPE)


class ListenError(Exception):
    """The port cannot be listened on; `error` says why."""

    def __init__(self, error: OSError) -> None:
        super().__init__(str(error))
        self.error = error


class Server(uvicorn.Server):
    """A uvicorn server that tells when it listens: `ready` says whether it is to go on."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], bool]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then tell. Raises ListenError."""
        try:
            await super().startup(sockets)
        except OSError as error:
            raise ListenError(error) from error
        if not self._ready():
            self.should_exit = True


def server_of(
    forwarder: Forwarder, *, backlog: int, keep_alive_s: int, access_log: bool, ready: Callable[[], bool]
) -> Server:
    """The server for a started forwarder; run it with `serve(sockets=[...])` on uvloop."""
    _log_to_stderr("uvicorn.error", "%(message)s", logging.WARNING)
    logging.getLogger("uvicorn.error").addFilter(lambda record: record.msg != _UNENDED)
    _log_to_stderr("forwarder.stream", "%(message)s", logging.WARNING)
    if access_log:
        _log_to_stderr("uvicorn.access", "%(asctime)s %(message)s", logging.INFO)
    config = uvicorn.Config(
        app_of(forwarder),
        loop="uvloop",
        http="httptools",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=access_log,
        backlog=backlog,
        timeout_keep_alive=keep_alive_s,
        proxy_headers=False,
        server_header=False,
    )
    return Server(config, ready)


def _log_to_stderr(logger_name: str, format_: str, level: int) -> None:
    """A plain handler of its own: no colours, and no other logger's lines or levels."""
    logger = logging.getLogger(logger_name)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter(format_))
    logger.handlers = [handler]
    logger.setLevel(level)
    logger.propagate = False
