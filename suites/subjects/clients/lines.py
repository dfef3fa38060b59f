"""The adapters' side of the protocol in docs/add-a-subject.md, for clients in Python: operations in, outcomes out.

Each adapter is told BASE_URL CA_FILE OPTIONS on its command line, OPTIONS as JSON.
"""

import asyncio
import base64
import json
import os
import sys
import threading
from collections.abc import Awaitable, Callable
from typing import Any

Operation = dict[str, Any]
Outcome = dict[str, Any]


class Lost(Exception):  # noqa: N818  # it is what came, and then the error
    """A call that raised when something had come: what had, as the outcome says it. Its cause is the error."""

    def __init__(self, **came: Any) -> None:
        super().__init__()
        self.came = came


def arguments() -> tuple[str, str, dict[str, Any]]:
    """Base URL, CA file, options."""
    return sys.argv[1], sys.argv[2], json.loads(sys.argv[3])


def carried(operation: Operation) -> dict[str, str]:
    """What an SDK has to carry beside its own headers, a key in place of its own among it: what stands behind it may
    want that. The type of the body is its own to say: it writes that anew.
    """
    return {name: value for name, value in operation["headers"].items() if name.lower() != "content-type"}


def response(status: int, headers: Any, body: bytes) -> Outcome:
    """What a client has handed its caller that hands out responses."""
    kept = {name: headers[name] for name in ("Content-Type",) if name in headers}
    try:
        return {"status": status, "headers": kept, "body": body.decode()}
    except UnicodeDecodeError:
        return {"status": status, "headers": kept, "body_base64": base64.b64encode(body).decode()}


def raised(error: BaseException) -> Outcome:
    """What a client has raised, by its class."""
    if isinstance(error, Lost):
        assert error.__cause__ is not None
        return {**error.came, **raised(error.__cause__)}
    return {"error": f"{type(error).__module__}.{type(error).__qualname__}", "message": str(error)}


def serve(call: Callable[[Operation], Outcome]) -> None:
    """Each operation on a thread of its own, for a client that blocks. Returns when stdin has ended."""
    say = _speaking()

    def answer(operation: Operation) -> None:
        try:
            outcome = call(operation)
        except Exception as error:  # noqa: BLE001  # whatever it raises is what its caller would get
            outcome = raised(error)
        say({"id": operation["id"], **outcome})

    say({"ready": True})
    for line in sys.stdin:
        threading.Thread(target=answer, args=(json.loads(line),), daemon=True).start()
    os._exit(0)


def serve_async(connect: Callable[[], Awaitable[Callable[[Operation], Awaitable[Outcome]]]]) -> None:
    """Each operation in a task of its own, on one loop, for a client that is made there."""
    asyncio.run(_serve(connect))


async def _serve(connect: Callable[[], Awaitable[Callable[[Operation], Awaitable[Outcome]]]]) -> None:
    say = _speaking()
    call = await connect()
    tasks = set()

    async def answer(operation: Operation) -> None:
        try:
            outcome = await call(operation)
        except Exception as error:  # noqa: BLE001
            outcome = raised(error)
        say({"id": operation["id"], **outcome})

    say({"ready": True})
    while line := await asyncio.to_thread(sys.stdin.readline):
        task = asyncio.create_task(answer(json.loads(line)))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
    os._exit(0)


def _speaking() -> Callable[[Outcome], None]:
    """stdout is for outcomes alone: whatever prints goes to stderr."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="surrogatepass")
    os.dup2(2, 1)
    turn = threading.Lock()

    def say(outcome: Outcome) -> None:
        with turn:
            out.write(json.dumps(outcome) + "\n")
            out.flush()

    return say
