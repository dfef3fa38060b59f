"""aiohttp-retry: a RetryClient with an ExponentialRetry, as its options say."""

import ssl
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
from aiohttp_retry import ExponentialRetry, RetryClient
from lines import Lost, Operation, Outcome, arguments, response, serve_async

url, ca, options = arguments()
EXCEPTIONS = {"client": aiohttp.ClientError, "timeout": TimeoutError}


async def connect() -> Callable[[Operation], Awaitable[Outcome]]:
    """One session, as long as the process lives."""
    retry: dict[str, Any] = dict(options.get("retry", {}))
    if "exceptions" in retry:
        retry["exceptions"] = {EXCEPTIONS[name] for name in retry["exceptions"]}
    context = ssl.create_default_context(cafile=ca) if url.startswith("https") else True
    session = aiohttp.ClientSession(
        timeout=aiohttp.ClientTimeout(sock_connect=options["connect_ms"] / 1000, sock_read=options["read_ms"] / 1000),
        connector=aiohttp.TCPConnector(ssl=context),
    )
    client = RetryClient(session, retry_options=ExponentialRetry(**retry))

    async def call(operation: Operation) -> Outcome:
        asked = {"data": operation["body"].encode(), "headers": operation["headers"]}
        async with client.post(url + operation["path"], **asked) as answer:
            if not operation["stream"]:
                return response(answer.status, answer.headers, await answer.read())
            came = b""
            try:
                async for piece in answer.content.iter_any():
                    came += piece
            except Exception as error:
                raise Lost(**response(answer.status, answer.headers, came)) from error
            return response(answer.status, answer.headers, came)

    return call


serve_async(connect)
