"""What stands in a worker's container: it passes on what comes to it, and what comes back, and each end by itself.

Sent to the container as it is, where there is nothing but Python: the worker is played elsewhere, by whoever runs the
plan. As any relay it has accepted before it dials.
"""

import asyncio
import contextlib
import socket
import struct
import sys

_AT_ONCE = struct.pack("ii", 1, 0)  # SO_LINGER: a close is a reset
_BACKLOG = 1024
_MOST_BYTES = 65_536

Address = tuple[str, int]


async def relay(here: Address, there: Address) -> None:
    """Listen at the one and pass on to the other, for ever."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            answers, onward = await asyncio.open_connection(*there)
        except OSError:
            _reset(writer)
            return
        await asyncio.gather(_pass_on(reader, onward), _pass_on(answers, writer))
        for each in (writer, onward):
            each.close()

    server = await asyncio.start_server(serve, *here, backlog=_BACKLOG)
    await server.serve_forever()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One direction to its end, which is passed on, and the other one goes on. A reset is one for both: who is reset
    is read from too.
    """
    try:
        while data := await reader.read(_MOST_BYTES):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except OSError:
        _reset(writer)


def _reset(writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):  # it may be closed already
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
    writer.transport.abort()


if __name__ == "__main__":
    _, host, port, host_there, port_there = sys.argv
    asyncio.run(relay((host, int(port)), (host_there, int(port_there))))
