"""Which HTTP client carries the attempts: aiohttp; or httpx, for those who want to see what another one costs."""

from collections.abc import Callable
from typing import Protocol

from forwarder.body import Body
from forwarder.evidence import Evidence
from forwarder.reply import Reply
from forwarder.request import Request
from forwarder.settings import Settings

CARRIERS = ("aiohttp", "httpx")


class Carrier(Protocol):
    """One client with one pool. Made and closed on the loop that it serves."""

    async def send(self, url: str, request: Request) -> Reply | Body | Evidence:
        """One attempt, never more; a Body is closed by whoever gets it."""

    async def close(self) -> None:
        """End every attempt and every connection."""


class MissingCarrierError(ImportError):
    """The client is not installed; the message says how to install it."""


def carrier_named(name: str) -> Callable[[Settings], Carrier]:
    """What makes a carrier of that kind. httpx is imported here, and nowhere else, when it is named.

    Raises ValueError for a name that is not known, and MissingCarrierError.
    """
    match name:
        case "aiohttp":
            from forwarder.transport import Transport

            return Transport
        case "httpx":
            try:
                from forwarder.httpx_transport import HttpxTransport
            except ImportError as error:
                raise MissingCarrierError(
                    f"httpx cannot be imported ({error}); expected it (pip install 'retryproof[bench]')"
                ) from None
            return HttpxTransport
        case _:
            raise ValueError(f"HTTP client {name!r}; expected one of {', '.join(CARRIERS)}")
