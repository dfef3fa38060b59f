"""Clean-up that is done to its end."""

import asyncio
from collections.abc import Coroutine
from typing import Any


async def to_the_end(clean_up: Coroutine[Any, Any, None]) -> None:
    """Clean up, also when cancelled meanwhile: the cancellation is raised when it is done."""
    task = asyncio.ensure_future(clean_up)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
    task.result()
    if cancelled is not None:
        raise cancelled
