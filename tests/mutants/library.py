"""A mutant that leaves the phases to its HTTP library."""

import io
from collections.abc import Sequence

import aiohttp

from tests.mutants.forwarder import Forwarder, is_unapplied
from tests.mutants.sending import Address, Got, Seen


class CatchesConnectionErrors(Forwarder):
    """aiohttp's ClientConnectionError is taken for "could not connect": it covers a refused connect, a reset after
    sending, and a read timeout.
    """

    def __init__(self, upstreams: Sequence[Address], timeout_s: float) -> None:
        super().__init__(upstreams, timeout_s)
        self.session = aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=timeout_s, sock_read=timeout_s)
        )

    async def send(self, upstream: Address, body: bytes) -> Got:
        url = f"http://{upstream[0]}:{upstream[1]}/v1/completions"
        status: int | None = None
        try:
            data, headers = io.BytesIO(body), {"Content-Type": "application/json"}
            async with self.session.post(url, data=data, headers=headers) as response:
                status = response.status
                return Got(seen=Seen.WHOLE, status=status, body=await response.read())
        except aiohttp.ClientConnectionError:
            return Got(seen=Seen.RESET, status=status)
        except aiohttp.ClientError:
            return Got(seen=Seen.CUT, status=status)

    def may_send_again(self, got: Got) -> bool:
        return is_unapplied(got) or got.seen is Seen.RESET

    async def close(self) -> None:
        await self.session.close()
