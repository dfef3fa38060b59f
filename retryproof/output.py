"""Standard output, as it may be: a terminal, a file on a full disk, or a pipe that nobody reads any more."""

import errno
import io
import os
import re
import sys
from typing import TextIO, cast

from retryproof.exits import CommandError, Exit
from suites.printable import legible, printable

_NOBODY_READS = (errno.EPIPE, errno.EIO)  # EIO: the terminal has been closed


class Output(io.TextIOBase):
    """Standard output. What nobody reads any more is dropped: a closed pipe changes no verdict and no exit code.

    Where it is no terminal, lines have no spaces at their ends. Raises CommandError (exit code 4) where a write
    fails, as on a full disk; nothing more is written after that.
    """

    def __init__(self) -> None:
        self._stream = sys.stdout  # None: it was closed before we were started

    def isatty(self) -> bool:
        """Whether a person looks at it."""
        return self._stream is not None and self._stream.isatty()

    @property
    def encoding(self) -> str:  # type: ignore[override]  # TextIOBase has an attribute of that name
        """What it can show."""
        return getattr(self._stream, "encoding", None) or "utf-8"

    def write(self, text: str) -> int:
        """Write it through, at once."""
        if self._stream is None:
            return len(text)
        try:
            self._stream.write(text if self.isatty() else re.sub(r" +$", "", text, flags=re.MULTILINE))
            self._stream.flush()
        except OSError as error:
            _leave(self._stream.fileno())
            if error.errno not in _NOBODY_READS:
                raise CommandError(
                    f"cannot write to standard output: {error.strerror}; expected a place with free space. "
                    "What the output folder holds is kept.",
                    Exit.COULD_NOT_RUN,
                ) from None
        return len(text)

    def flush(self) -> None:
        """Nothing waits here."""


def _leave(descriptor: int) -> None:
    """What is still buffered, and all that follows, goes nowhere, also when the interpreter ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def standard_output() -> TextIO:
    """Standard output as it is now."""
    return cast(TextIO, Output())


def say(message: str) -> None:
    """One message to standard error, whatever it quotes; where that is gone nobody hears it."""
    if sys.stderr is None:
        return
    try:
        print(f"retryproof: {printable(legible(message))}", file=sys.stderr, flush=True)
    except OSError:
        _leave(sys.stderr.fileno())
