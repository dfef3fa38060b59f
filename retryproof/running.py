"""Processes of ours that find our source where this one does. Imports little: a process that holds another needs no
more.
"""

import sys
from pathlib import Path

import retryproof


def running(main: str) -> tuple[str, ...]:
    """The command that calls that function, `module:name`, in a process of its own."""
    module, _, name = main.partition(":")
    return sys.executable, "-c", f"import sys; sys.path[:] = {_path()!r}; from {module} import {name}; {name}()"


def _path() -> list[str]:
    """Where it finds what this process finds; what is in the folder where it was called, only where that is our tree: a
    module that a subject names there may be called as one of ours.
    """
    ours = str(Path(retryproof.__file__).parents[1])
    return [each for each in sys.path if each == ours or each not in ("", str(Path.cwd()))]
