"""Standard output, as it may be: a terminal, a file on a full disk, or a pipe that nobody reads any more."""

import errno
import io
import os
import re
import sys
from functools import cache
from typing import TextIO, cast

from retryproof.exits import CommandError, Exit

_NOBODY_READS = (errno.EPIPE, errno.EIO)  # EIO: the terminal has been closed


class Output(io.TextIOBase):
    """Standard output. What nobody reads any more is dropped: a closed pipe changes no verdict and no exit code.

    Where it is no terminal, lines have no spaces at their ends. Raises CommandError (exit code 4) where a write
    fails, as on a full disk; nothing more is written after that.
    """

    def isatty(self) -> bool:
        """Whether a person looks at it."""
        return sys.stdout is not None and sys.stdout.isatty()

    @property
    def encoding(self) -> str:  # type: ignore[override]  # TextIOBase has an attribute of that name
        """What it can show."""
        return getattr(sys.stdout, "encoding", None) or "utf-8"

    def write(self, text: str) -> int:
        """Write it through, at once."""
        if sys.stdout is None:  # it was closed before we were started
            return len(text)
        try:
            sys.stdout.write(text if self.isatty() else re.sub(r" +$", "", text, flags=re.MULTILINE))
            sys.stdout.flush()
        except OSError as error:
            _leave()
            if error.errno not in _NOBODY_READS:
                raise CommandError(
                    f"cannot write to standard output: {error.strerror}; expected a place with free space. "
                    "What the output folder holds is kept.",
                    Exit.COULD_NOT_RUN,
                ) from None
        return len(text)

    def flush(self) -> None:
        """Nothing waits here."""


def _leave() -> None:
    """What is still buffered, and all that follows, goes nowhere, also when the interpreter ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


@cache
def standard_output() -> TextIO:
    """The one standard output of this process."""
    return cast(TextIO, Output())


def say(message: str) -> None:
    """One message to standard error; where that is gone nobody hears it."""
    try:
        print(f"retryproof: {message}", file=sys.stderr, flush=True)
    except (OSError, ValueError):
        return
