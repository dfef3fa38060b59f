"""Two segments of one request that a peer on this machine reads one after the other."""

import asyncio
import contextlib
import socket

from fake_router.kernel import unread_in

LONGEST_S = 0.5  # a peer that reads nothing until then gets the rest all the same
_STEP_S = 0.001


async def read_by_peer(sock: socket.socket) -> None:
    """Return when all that was sent on that socket has been read at its other end, as the kernel has it; at once where
    that end is on another machine. Segments that wait in a queue together are one to whoever reads it.
    """
    with contextlib.suppress(TimeoutError, OSError):  # no sock_diag, or a connection that is no more
        own, peer = sock.getsockname()[1], sock.getpeername()[1]
        async with asyncio.timeout(LONGEST_S):
            while unread_in(peer, of=own):  # noqa: ASYNC110  the kernel tells nobody when another has read
                await asyncio.sleep(_STEP_S)
