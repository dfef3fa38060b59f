"""A report, or a sign-off, that somebody names."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from retryproof.exits import CommandError, Exit
from retryproof.sign_off_folder import FILE, PATHS
from signoff.report import Report, ReportError, load_report
from signoff.sign_off import SignOff

_Held = TypeVar("_Held", Report, SignOff)


def _beside(path: Path) -> str:
    """A sign-off is no report, and has two."""
    both = [path.parent / one for one in PATHS]
    held = path.name == FILE and all(one.is_file() for one in both)
    return f"; a sign-off holds two: {str(both[0])!r} and {str(both[1])!r}" if held else ""


def load_given_report(option: str, path: Path) -> Report:
    """The report in that file. Raises CommandError (exit code 2) for what is none, or cannot be read."""
    return held(path, load_report, option, "a report.json")


def held(path: Path, load: Callable[[Path], _Held], option: str, expected: str) -> _Held:
    """What that file holds. option: which named it, empty for none. Raises CommandError (exit code 2)."""
    try:
        return load(path)
    except ReportError as error:
        raise CommandError(f"{option}{': ' if option else ''}{error}{_beside(path)}", Exit.USAGE) from None
    except OSError as error:
        named = f"{option} {str(path)!r}".lstrip()
        raise CommandError(f"cannot read {named}: {error.strerror}; expected {expected}", Exit.USAGE) from None
