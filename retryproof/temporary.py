"""Folders for what a command needs while it runs, and those that one left which could not clean up."""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

_BEGINNING = "retryproof-begins-"  # not held yet
_HELD = "retryproof-held-"
_HOLD = ".held"  # is locked as long as its command lives, whatever ends it


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder of our own, which is gone afterwards. So are those of commands that were killed before they could remove
    them: nobody holds them any more.
    """
    _remove_left()
    folder = Path(tempfile.mkdtemp(prefix=_BEGINNING))
    with contextlib.ExitStack() as stack:
        stack.callback(lambda: shutil.rmtree(folder, ignore_errors=True))
        folder.chmod(0o711)  # a subject started by root may give up its rights and must still find its files
        hold = os.open(folder / _HOLD, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        stack.callback(os.close, hold)
        fcntl.flock(hold, fcntl.LOCK_EX)
        folder = folder.rename(folder.with_name(_HELD + folder.name.removeprefix(_BEGINNING)))
        yield folder


def _remove_left() -> None:
    """Those that nobody holds. One that is not ours to look at is somebody else's."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_HELD}*"):
        with contextlib.suppress(OSError):
            hold = os.open(folder / _HOLD, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(hold, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(hold).st_uid == os.geteuid():
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(hold)
