"""The body of an answer whose head was read: taken piece by piece, and no faster than its reader asks for.

aiohttp stops reading from the socket when about half a megabyte waits here, so a reader that stops stops the router.
"""

import errno
from abc import ABC, abstractmethod
from collections.abc import Callable

import aiohttp

HOW_TO_WAIT_LONGER = (
    "if the router needs longer, raise the deadline: Settings(read_timeout_ms=...), or --read-timeout-ms"
)


class CutError(Exception):
    """The body is not whole; the message says why, and after how many bytes."""


class Body(ABC):
    """One answer's body, whoever reads it from the socket. Closed by its reader, or by the forwarder when that is
    closed. `size`: how many bytes of it have come.
    """

    def __init__(self, url: str, status: int) -> None:
        self.url = url
        self.status = status
        self.size = 0

    @abstractmethod
    async def piece(self) -> bytes:
        """What has come next; empty at the end that the framing names. Raises CutError."""

    @abstractmethod
    def abort(self) -> None:
        """End it now; a piece that is waited for never comes."""

    @abstractmethod
    def close(self) -> None:
        """Nothing more is read. A connection whose answer was not read to its end is not used again."""


class AiohttpBody(Body):
    """A body that aiohttp reads; `closed` is told of its end."""

    def __init__(
        self, url: str, response: aiohttp.ClientResponse, read_timeout_ms: int, closed: Callable[[Body], None]
    ) -> None:
        super().__init__(url, response.status)
        self._response = response
        self._read_timeout_ms = read_timeout_ms
        self._closed = closed
        self._aborted = False

    async def piece(self) -> bytes:
        """What has come next; empty at the end that the framing names. Raises CutError."""
        try:
            piece = await self._response.content.readany()
        except TimeoutError:
            says = f"{silent(self._read_timeout_ms)} inside the body, after {self.size} bytes; {HOW_TO_WAIT_LONGER}"
            raise CutError(says) from None
        except (aiohttp.ClientError, OSError) as error:
            if self._aborted:
                raise CutError(f"the forwarder was closed, after {self.size} bytes") from None
            raise CutError(f"{words_of(error)}, after {self.size} bytes") from None
        self.size += len(piece)
        return piece

    def abort(self) -> None:
        """End it now; a piece that is waited for never comes."""
        self._aborted = True
        self.close()

    def close(self) -> None:
        """Nothing more is read. A connection whose answer was not read to its end is not used again."""
        if self._response.connection is not None:
            self._response.close()
        self._closed(self)


def silent(read_timeout_ms: int) -> str:
    """How a message says that the read timeout has passed."""
    return f"nothing came for {read_timeout_ms} ms (the read timeout)"


def words_of(error: BaseException) -> str:
    """An exception in words, with the name of its errno. The number of an ssl.SSLError, which aiohttp passes on in
    exceptions of its own, is OpenSSL's and no errno: it would be named EPERM.
    """
    words = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    number = error.errno if isinstance(error, OSError) and "[SSL: " not in words else None
    return words if number is None else f"{words} ({errno.errorcode.get(number, number)})"
