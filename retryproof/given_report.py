"""A report that an option names."""

from pathlib import Path

from retryproof.exits import CommandError, Exit
from retryproof.sign_off_folder import FILE, PATHS
from signoff.report import Report, ReportError, load_report


def _beside(path: Path) -> str:
    """A sign-off is no report, and has two."""
    both = [path.parent / one for one in PATHS]
    held = path.name == FILE and all(one.is_file() for one in both)
    return f"; a sign-off holds two: {str(both[0])!r} and {str(both[1])!r}" if held else ""


def load_given_report(option: str, path: Path) -> Report:
    """The report in that file. Raises CommandError (exit code 2) for what is none, or cannot be read."""
    try:
        return load_report(path)
    except ReportError as error:
        raise CommandError(f"{option}: {error}{_beside(path)}", Exit.USAGE) from None
    except OSError as error:
        raise CommandError(
            f"cannot read {option} {str(path)!r}: {error.strerror}; expected a report.json", Exit.USAGE
        ) from None
