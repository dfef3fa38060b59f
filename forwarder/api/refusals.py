"""What the store's refusals, and paths that are not served, are answered with."""

from collections.abc import Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from forwarder.api.answers import RefusedError, refusal
from forwarder.api.incoming import CallerLeftError
from forwarder.futures.errors import (
    ClosedError,
    FullError,
    JournalError,
    OtherContentError,
    StoreError,
    TooLargeError,
    UnknownSessionError,
)

_STATUSES: tuple[tuple[type[StoreError], int, str], ...] = (
    (UnknownSessionError, 404, "unknown_session"),
    (OtherContentError, 422, "other_content"),
    (FullError, 429, "full"),
    (TooLargeError, 413, "too_large"),
    (ClosedError, 503, "ending"),
    (JournalError, 503, "cannot_store"),
)


def refused_by_store(error: StoreError) -> RefusedError:
    """The refusal that this error is; the first row decides."""
    for kind, status, word in _STATUSES:
        if isinstance(error, kind):
            return RefusedError(status, word, str(error))
    raise error


async def _by_store(_: Request, error: Exception) -> Response:
    assert isinstance(error, StoreError)
    return await _refused(_, refused_by_store(error))


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, RefusedError)
    return refusal(error.status, error.kind, error.says)


async def _caller_left(_: Request, error: Exception) -> Response:
    return Response(status_code=400)  # half a request, and nobody to tell


async def _not_served(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        allowed = ", ".join(sorted((error.headers or {}).get("Allow", "").split(", ")))
        answered = refusal(405, "method_not_allowed", f"{request.method} {request.url.path}; expected {allowed}")
        answered.headers["Allow"] = allowed  # RFC 9110 s15.5.6
        return answered
    paths = ", ".join(route.path for route in request.app.routes)
    return refusal(404, "no_such_path", f"{request.url.path!r}; expected one of {paths}")


HANDLERS: Mapping[Any, Any] = {
    RefusedError: _refused,
    StoreError: _by_store,
    CallerLeftError: _caller_left,
    HTTPException: _not_served,
}
