"""A listening socket whose queue is emptied whenever the loop comes round.

uvloop (as libuv since 1.45) accepts one connection a turn of the loop, and where a thousand requests are ready a turn
takes a second: a caller that comes back waits in the queue until everybody else is done (measured: 25 s beside 4 s).
"""

import asyncio
import errno
import socket
from collections.abc import Callable

from forwarder.api.activity import Activity

_AT_ONCE = 1024  # accepted in one turn; who is connected has a turn too
_RETRY_S = 0.05
_NO_ROOM = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class Accepting:
    """Accepts connections and gives each a protocol, until it is closed. Raises OSError where it cannot listen."""

    def __init__(
        self, listener: socket.socket, *, backlog: int, protocol: Callable[[], asyncio.Protocol], activity: Activity
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._listener = listener
        self._protocol = protocol
        self._activity = activity
        self._handing_over: set[asyncio.Task[None]] = set()
        listener.setblocking(False)
        listener.listen(backlog)
        self._watch()

    def close(self) -> None:
        """Accept nothing more. The socket is closed by whoever opened it."""
        if self._listener.fileno() >= 0:
            self._loop.remove_reader(self._listener.fileno())

    def _watch(self) -> None:
        if self._listener.fileno() >= 0:
            self._loop.add_reader(self._listener.fileno(), self._accept)

    def _accept(self) -> None:
        for _ in range(_AT_ONCE):
            try:
                connected, _address = self._listener.accept()
            except (BlockingIOError, InterruptedError):
                return
            except ConnectionAbortedError:
                continue  # it has left the queue
            except OSError as error:
                if error.errno not in _NO_ROOM:
                    raise
                self.close()  # it stays in the queue, and the queue readable
                self._loop.call_later(_RETRY_S, self._watch)
                return
            task = self._loop.create_task(self._hand_over(connected))
            self._handing_over.add(task)
            task.add_done_callback(self._handing_over.discard)

    async def _hand_over(self, connected: socket.socket) -> None:
        with self._activity.working():
            connected.setblocking(False)
            try:
                await self._loop.connect_accepted_socket(self._protocol, connected)
            except OSError:
                connected.close()  # its caller has reset it meanwhile
