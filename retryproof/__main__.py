"""`retryproof`: the process around the command. Nothing heavy is imported before Ctrl-C can be answered."""

import os
import sys
from contextlib import suppress
from typing import NoReturn

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
if __name__ == "__main__" and not sys.flags.safe_path and sys.path[0] != _OURS:
    # `python -m` looks first in the folder where it was called, and somebody's own forwarder.py there, or suites/, is
    # not ours. `retryproof` does not look there either; what a subject names there is looked for on purpose.
    del sys.path[0]

# after that: all of it is ours
from retryproof.exits import CommandError, Exit  # noqa: E402
from retryproof.interrupts import let_end, take_over  # noqa: E402
from retryproof.output import say  # noqa: E402

TRACEBACK = "RETRYPROOF_TRACEBACK"


def main() -> None:
    """Run the command and end the process with its exit code."""
    take_over()
    _open_standard_files()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a locale without our characters is no reason to crash
    try:
        code = run(sys.argv[1:])
        let_end()
    except KeyboardInterrupt:  # between the two
        let_end()
        code = Exit.INTERRUPTED
    if code is Exit.INTERRUPTED:
        _leave_with(code)
    sys.exit(code)


def _leave_with(code: Exit) -> NoReturn:
    """At once, since all is cleaned up: where Ctrl-C came inside an exec(), as in every dataclass, `python -m` would
    end this process by the signal, whoever has caught it since.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, AttributeError):
            stream.flush()
    os._exit(code)


def _open_standard_files() -> None:
    """Those that were closed lead nowhere; else the first sockets would get their numbers, which libuv refuses."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number is this one


def run(arguments: list[str]) -> Exit:
    """The command with these arguments; returns its exit code. Every message but the report goes to stderr."""
    try:
        from retryproof.dispatch import dispatch  # half a second, in which Ctrl-C is possible

        return dispatch(arguments)
    except CommandError as error:
        say(str(error))
        return error.code
    except KeyboardInterrupt:
        say("interrupted")
        return Exit.INTERRUPTED
    except Exception as error:  # the one place where a bug of ours becomes exit code 4
        if os.environ.get(TRACEBACK):
            raise
        say(_our_bug(error))
        return Exit.COULD_NOT_RUN


def _our_bug(error: Exception) -> str:
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = f" at {place.tb_frame.f_code.co_filename}:{place.tb_lineno}" if place is not None else ""
    return (
        f"internal error: {error!r}{where}; this is a bug of retryproof, not of the subject. "
        f"Run it again with {TRACEBACK}=1 and report what it prints"
    )


if __name__ == "__main__":
    main()
