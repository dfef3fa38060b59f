"""A report that an option names."""

from pathlib import Path

from retryproof.exits import CommandError, Exit
from signoff.report import Report, ReportError, load_report


def load_given_report(option: str, path: Path) -> Report:
    """The report in that file. Raises CommandError (exit code 2) for what is none, or cannot be read."""
    try:
        return load_report(path)
    except ReportError as error:
        raise CommandError(f"{option}: {error}", Exit.USAGE) from None
    except OSError as error:
        raise CommandError(
            f"cannot read {option} {str(path)!r}: {error.strerror}; expected a report.json", Exit.USAGE
        ) from None
