"""Messages between processes of ours, as pickles behind their lengths. Both ends are this program, started by each
other, so that a pickle is as good as its sender.
"""

import pickle
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

LENGTH_BYTES = 8


def pickled(message: object) -> bytes:
    """As it is written: its length, then itself."""
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    return len(data).to_bytes(LENGTH_BYTES, "big") + data


async def messages_of(read_exactly: Callable[[int], Awaitable[bytes]]) -> AsyncIterator[Any]:
    """Every whole one until the sender has ended. read_exactly: raises EOFError where it has."""
    while True:
        try:
            length = int.from_bytes(await read_exactly(LENGTH_BYTES), "big")
            message = pickle.loads(await read_exactly(length))
        except (EOFError, pickle.UnpicklingError):  # asyncio.IncompleteReadError is an EOFError
            return
        yield message


def first_message(read: Callable[[int], bytes]) -> Any:
    """The one message that comes; None where its sender has ended before it was all written. read: blocks for as many
    bytes, and has fewer where there are no more.
    """
    try:
        return pickle.loads(read(int.from_bytes(read(LENGTH_BYTES), "big")))
    except (EOFError, pickle.UnpicklingError):
        return None
