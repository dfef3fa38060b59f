"""The forwarder as an HTTP server on uvicorn: how it listens, and how it ends."""

import asyncio
import math
import socket
from collections.abc import Callable
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from forwarder.accepting import Accepting
from forwarder.api.connection import connections_of
from forwarder.api.patience import LAST_ANSWERS_S
from forwarder.api.service import Service


class ListenError(Exception):
    """The port cannot be listened on; `error` says why."""

    def __init__(self, error: OSError) -> None:
        super().__init__(str(error))
        self.error = error


class Server(uvicorn.Server):
    """A uvicorn server that tells when it listens (`ready` says whether it is to go on), and ends as `Ending` does."""

    def __init__(self, config: uvicorn.Config, service: Service, ready: Callable[[], bool]) -> None:
        super().__init__(config)
        self._ready = ready
        self._ending = service.ending
        self._activity = service.activity
        self._connections = connections_of(service.activity)
        self._accepting: list[Accepting] = []

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then tell. Raises ListenError."""
        await super().startup([])  # it listens on none: it would accept one connection a turn of the loop
        try:
            self._accepting = [
                Accepting(each, backlog=self.config.backlog, protocol=self._connection, activity=self._activity)
                for each in sockets or ()
            ]
        except OSError as error:
            raise ListenError(error) from error
        if not self._ready():
            self.should_exit = True

    def _connection(self) -> asyncio.Protocol:
        made: asyncio.Protocol = self._connections(
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        return made

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """The first signal ends it, the second hastens that, and one more ends it at once."""
        if not self.should_exit:
            super().handle_exit(sig, frame)
            return
        self._captured_signals.append(sig)
        self.force_exit = self._ending.hastened
        self._ending.hasten()

    async def on_tick(self, counter: int) -> bool:
        """True: it is to end; also because it has broken off."""
        return await super().on_tick(counter) or self._ending.broken is not None

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Polls are taken while there are futures in flight; then it closes its port, and waits for open requests."""
        self._ending.begin()
        await self._ending.drain()
        self.config.timeout_graceful_shutdown = math.ceil(self._ending.left_s) + LAST_ANSWERS_S
        finishing = asyncio.create_task(self._ending.finish())
        for each in self._accepting:
            each.close()
        await super().shutdown(sockets)
        await finishing


def server_of(
    app: ASGIApp,
    service: Service,
    *,
    backlog: int,
    keep_alive_s: int,
    access_log: bool,
    ready: Callable[[], bool],
) -> Server:
    """The server for an application around a started forwarder; run it with `serve(sockets=[...])` on uvloop."""
    config = uvicorn.Config(
        app,
        loop="uvloop",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=access_log,
        backlog=backlog,
        timeout_keep_alive=keep_alive_s,
        proxy_headers=False,
        server_header=False,
    )
    return Server(config, service, ready)
