"""What the loop of subjects in this process says on a terminal, and what it keeps to itself."""

import asyncio
import socket

import pytest

from suites.in_process import SubjectThread


class Ending(asyncio.Protocol):
    """Tells when its connection is over."""

    def __init__(self) -> None:
        self.over = asyncio.Event()

    def connection_lost(self, exc: Exception | None) -> None:
        self.over.set()


async def _written_when_over() -> Exception:
    """What uvloop raises."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        transport, ending = await asyncio.get_running_loop().create_connection(Ending, *listener.getsockname())
        transport.abort()
        await ending.over.wait()
        with pytest.raises(RuntimeError) as raised:
            transport.write(b"late")
    return raised.value


async def _said(error: Exception) -> None:
    asyncio.get_running_loop().call_exception_handler({"message": "Fatal error on SSL protocol", "exception": error})


async def test_a_connection_that_is_over_is_no_error_of_anybody(caplog: pytest.LogCaptureFixture) -> None:
    """Any other error is said, as asyncio says it."""
    thread = SubjectThread("subjects of a test")
    error = await thread.run(_written_when_over())
    await thread.run(_said(error))
    assert not caplog.records
    await thread.run(_said(RuntimeError("the handler is wrong")))
    assert ["Fatal error on SSL protocol" in record.message for record in caplog.records] == [True]
    thread.loop().call_soon_threadsafe(thread.loop().stop)
