"""Names to addresses, within a limit of time: a name server that is silent must not hold an operation for ever."""

import asyncio
import socket
from collections.abc import Sequence
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult


class BoundedResolver(AbstractResolver):
    """The system's resolver, or the name servers that are given. No answer within `within_ms` is a failure to
    resolve; aiohttp's own timers do not run meanwhile.
    """

    def __init__(self, nameservers: Sequence[str], *, within_ms: int) -> None:
        self._within_ms = within_ms
        self._inner: AbstractResolver = (
            NameServerResolver(nameservers, within_ms=within_ms) if nameservers else aiohttp.ThreadedResolver()
        )

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The addresses of that host. Raises OSError."""
        try:
            async with asyncio.timeout(self._within_ms / 1000):
                return await self._inner.resolve(host, port, family)
        except TimeoutError:
            raise socket.gaierror(socket.EAI_AGAIN, f"not resolved within {self._within_ms} ms") from None

    async def close(self) -> None:
        """Let go of what the inner one holds."""
        await self._inner.close()


class NameServerResolver(AbstractResolver):
    """Asks the name servers that it was given (HOST:PORT), and no others; an answer is for one connection."""

    def __init__(self, nameservers: Sequence[str], *, within_ms: int) -> None:
        from dns import asyncresolver, nameserver  # only who names a server needs it

        self._resolver: Any = asyncresolver.Resolver(configure=False)
        self._resolver.nameservers = [
            nameserver.Do53Nameserver(host, int(port)) for host, _, port in (one.rpartition(":") for one in nameservers)
        ]
        self._resolver.lifetime = within_ms / 1000

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The IPv4 addresses of that host. Raises OSError."""
        from dns import exception, resolver

        try:
            answer = await self._resolver.resolve(host, "A", search=False)
        except resolver.NXDOMAIN as error:
            raise socket.gaierror(socket.EAI_NONAME, str(error)) from error
        except exception.DNSException as error:
            raise socket.gaierror(socket.EAI_AGAIN, str(error)) from error
        return [_result(host, record.address, port) for record in answer]

    async def close(self) -> None:
        """It holds nothing between questions."""


def _result(host: str, address: str, port: int) -> ResolveResult:
    return ResolveResult(
        hostname=host,
        host=address,
        port=port,
        family=socket.AF_INET,
        proto=0,
        flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
    )
