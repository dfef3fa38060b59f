"""A report, or a sign-off, that somebody names."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec

from retryproof.exits import CommandError, Exit
from retryproof.sign_off_folder import FILE, PATHS
from signoff.load_report import LoadReport
from signoff.report import Report, ReportError, load_report
from signoff.sign_off import SignOff

_Held = TypeVar("_Held", Report, SignOff)


def _beside(path: Path) -> str:
    """A sign-off is no report, and has two; a load's holds no cells, and has its one face."""
    both = [path.parent / one for one in PATHS]
    if path.name == FILE and all(one.is_file() for one in both):
        return f"; a sign-off holds two: {str(both[0])!r} and {str(both[1])!r}"
    if _is_of_a_load(path):
        return f"; it is that of a load, which is looked at in {str(path.with_name('report.html'))!r}"
    return ""


def _is_of_a_load(path: Path) -> bool:
    try:
        msgspec.json.decode(path.read_bytes(), type=LoadReport)
    except (OSError, msgspec.MsgspecError, RecursionError):
        return False
    return True


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
