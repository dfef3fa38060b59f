"""A minimal FastAPI app with the obvious store of futures, which benchmarks/futures_rate.py measures beside the server:
a dictionary of tasks. It validates nothing, knows no keys and no time to live, and keeps every result for ever.

`python -m benchmarks.plain_futures PORT ROUTER_URL CONNECTIONS`
"""

import asyncio
import itertools
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import uvicorn
from fastapi import FastAPI


class Plain:
    """Its handlers, and what they share."""

    def __init__(self, router: str, connections: int) -> None:
        self._url = router + "/v1/completions"
        self._connections = connections
        self._counter = itertools.count(1)
        self._tasks: dict[str, asyncio.Task[Any]] = {}
        self._results: dict[str, Any] = {}

    @asynccontextmanager
    async def live(self, _: FastAPI) -> AsyncIterator[None]:
        """With one session, as the server has."""
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=self._connections)) as self._session:
            yield

    async def create_session(self) -> dict[str, str]:
        """All share one."""
        return {"session_id": "1", "sampling_session_id": "1"}

    async def asample(self, body: dict[str, Any]) -> dict[str, str]:
        """An id, and a task for it."""
        request_id = str(next(self._counter))
        self._tasks[request_id] = asyncio.create_task(self._forward(request_id, body))
        return {"request_id": request_id}

    async def retrieve_future(self, body: dict[str, Any]) -> Any:
        """What the task returns, or has returned."""
        request_id = body["request_id"]
        task = self._tasks.get(request_id)
        return self._results[request_id] if task is None else await asyncio.shield(task)

    async def healthz(self) -> dict[str, int]:
        """How many run."""
        return {"in_flight": len(self._tasks)}

    async def _forward(self, request_id: str, body: dict[str, Any]) -> Any:
        asked = {"model": "m", "prompt": body["prompt"]["chunks"][0]["tokens"], "logprobs": 1, "return_token_ids": True}
        async with self._session.post(self._url, json=asked | body["sampling_params"]) as reply:
            choice = (await reply.json())["choices"][0]
        sequence = {"tokens": choice["token_ids"], "logprobs": choice["logprobs"]["token_logprobs"]}
        result = self._results[request_id] = {"sequences": [sequence | {"stop_reason": choice["finish_reason"]}]}
        del self._tasks[request_id]
        return result


def main(port: int, router: str, connections: int) -> None:
    """Serve until a signal."""
    plain = Plain(router, connections)
    app = FastAPI(lifespan=plain.live)
    handlers: dict[str, Callable[..., Any]] = {
        "create_session": plain.create_session,
        "create_sampling_session": plain.create_session,
        "asample": plain.asample,
        "retrieve_future": plain.retrieve_future,
    }
    for path, handler in handlers.items():
        app.add_api_route("/api/v1/" + path, handler, methods=["POST"])
    app.add_api_route("/healthz", plain.healthz)
    quiet: Mapping[str, Any] = {"access_log": False, "log_level": "error"}
    uvicorn.run(app, host="127.0.0.1", port=port, loop="uvloop", http="httptools", timeout_keep_alive=75, **quiet)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
