"""`--github`: what a check or a sign-off says in a job of GitHub Actions, beside its changes and in its summary."""

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from retryproof.exits import CommandError, Exit
from retryproof.output import standard_output
from signoff.annotations import Annotation, lines_of
from signoff.marked_text import escaped

SUMMARY = "GITHUB_STEP_SUMMARY"


@contextmanager
def commands_stopped(github: bool) -> Iterator[None]:
    """While inside, nothing that is printed is taken for a workflow command, whatever a subject has said."""
    if not github:
        yield
        return
    token = secrets.token_hex(16)
    _print(f"::stop-commands::{token}")
    try:
        yield
    finally:
        _print(f"::{token}::")


def announce(annotations: Iterable[Annotation], pages: Iterable[bytes]) -> None:
    """Print the annotations, and append the pages to the summary of the step, where there is one.

    Raises CommandError (exit code 4) where that cannot be written.
    """
    for line in lines_of(annotations):
        _print(line)
    summary = os.environ.get(SUMMARY)
    if summary:
        _append(Path(summary), b"".join(page + b"\n" for page in pages))


def could_not_run(error: CommandError, what: str) -> tuple[Annotation, bytes]:
    """What is said of what has no report: an annotation, and a page."""
    page = f"## ⚠️ {escaped(what)}: no verdict\n\n{escaped(str(error), 2_000)}\n"
    return Annotation(level="error", title=f"no verdict: {what}", says=str(error)), page.encode()


def _append(path: Path, data: bytes) -> None:
    try:
        with path.open("ab") as file:
            file.write(data)
    except OSError as error:
        raise CommandError(
            f"cannot write {SUMMARY} {str(path)!r}: {error.strerror}; expected the file that GitHub names there. "
            "What the output folder holds is kept.",
            Exit.COULD_NOT_RUN,
        ) from None


def _print(line: str) -> None:
    standard_output().write(f"{line}\n")
