"""Waiting until something is so of a router."""

import asyncio
from collections.abc import Callable

from fake_router.switchboard import Switchboard


async def until(board: Switchboard, so: Callable[[], bool], timeout_s: float | None) -> bool:
    """True as soon as it is so; False when it was not within that time (None: no limit).

    Open work changes whenever something is received or over.
    """
    if so():
        return True
    happened = asyncio.Event()
    forget = board.on_change(lambda: happened.set() if so() else None)
    try:
        async with asyncio.timeout(timeout_s):
            await happened.wait()
    except TimeoutError:
        return False
    finally:
        forget()
    return True
