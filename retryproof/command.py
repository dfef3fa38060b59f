"""What every sub-command is made of: a parser that teaches, and the work."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from retryproof.exits import CommandError, Exit

HELP = ("-h", "--help")
EXIT_CODES = """\
exit codes:
  0    PASS: every must holds (warnings change nothing)
  1    FAIL: a must is broken
  2    wrong usage or bad input: an option, a TOML file, a plan
  3    UNKNOWN: it proved nothing
  4    it could not run: a component is missing, a subject did not start or was
       never ready, a port is in use, the disk is full
  130  interrupted by Ctrl-C, SIGTERM or SIGHUP, once; what was found so far is
       written, and every process that was started is ended"""


class Parser(argparse.ArgumentParser):
    """Refuses with one CommandError (exit code 2) instead of ending the process; help is laid out as written."""

    def __init__(self, *, prog: str, description: str, epilog: str) -> None:
        super().__init__(
            prog=prog,
            description=description,
            epilog=epilog,
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            add_help=False,
        )
        self.add_argument(*HELP, action="store_true", help="print this, and exit")

    def error(self, message: str) -> NoReturn:
        """Raises CommandError with what was wrong and where the options are explained."""
        raise CommandError(f"{message}; see `{self.prog} --help`", Exit.USAGE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One sub-command. `options` adds what it takes to its parser; `run` does the work and returns the exit code.

    Raises CommandError from `run` for all that a person can put right.
    """

    name: str
    description: str
    epilog: str
    options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], Exit]

    def parser(self) -> Parser:
        """A parser of this command's arguments."""
        parser = Parser(prog=f"retryproof {self.name}", description=self.description, epilog=self.epilog)
        self.options(parser)
        return parser


def whole_number(at_least: int, at_most: int) -> Callable[[str], int]:
    """A type for options: a whole number between these, both included."""

    def number(text: str) -> int:
        if len(text) > 20 or not text.isdecimal() or not at_least <= int(text) <= at_most:
            raise argparse.ArgumentTypeError(f"{text!r}; expected a whole number from {at_least} to {at_most}")
        return int(text)

    return number


def file_path(text: str) -> Path:
    """A type for options: where a file is, or is to be."""
    if not Path(text).name or text.endswith("/"):
        raise argparse.ArgumentTypeError(f"{text!r}; expected the path of a file")
    return Path(text)


def folder_path(text: str) -> Path:
    """A type for options: where a folder is, or is to be. Nothing at all is a variable that nobody has set."""
    if not text:
        raise argparse.ArgumentTypeError(f"{text!r}; expected the path of a folder, or `.`")
    return Path(text)
