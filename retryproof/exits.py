"""Exit codes, and how those of several subjects join."""

from collections.abc import Iterable
from enum import IntEnum


class Exit(IntEnum):
    """What a script may rely on."""

    PASS = 0
    FAIL = 1
    USAGE = 2  # wrong usage or bad input
    UNKNOWN = 3  # it proved nothing
    COULD_NOT_RUN = 4  # a component is missing, a subject did not start, a full disk, an internal error
    INTERRUPTED = 130  # Ctrl-C, SIGTERM or SIGHUP; what was found so far is written


_WORST_FIRST = (Exit.INTERRUPTED, Exit.USAGE, Exit.FAIL, Exit.COULD_NOT_RUN, Exit.UNKNOWN, Exit.PASS)


def joined(codes: Iterable[Exit]) -> Exit:
    """The code of a command over several subjects: 130, else 1, else 4, else 3, else 0.

    Wrong usage is found before the first subject runs, so 2 never meets the others.
    """
    found = set(codes)
    return next(code for code in _WORST_FIRST if code in found or code is Exit.PASS)


class CommandError(Exception):
    """One message for the person at the terminal, and the exit code that goes with it."""

    def __init__(self, message: str, code: Exit) -> None:
        super().__init__(message)
        self.code = code

    def __str__(self) -> str:
        """With its notes."""
        return with_notes(self, super().__str__())


def with_notes(error: BaseException, message: str) -> str:
    """A message, and what was added to its error on the way (PEP 678): of what could not be cleaned up."""
    return "; ".join((message.rstrip("."), *notes)) if (notes := getattr(error, "__notes__", ())) else message
