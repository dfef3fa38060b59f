"""Which command is meant, and what `retryproof` says where none is."""

import sys
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

from retryproof.command import EXIT_CODES, HELP, Command
from retryproof.exits import CommandError, Exit
from retryproof.output import standard_output

# Each in a module of its name, which is imported when it is asked for: all of them take half a second.
SUMMARIES = {
    "check": "examine forwarders: do they retry only what is provably safe?",
    "signoff": "a change of retry policy: may the candidate replace the base?",
    "replay": "one plan again, with its timeline",
    "report": "the faces of a check or a sign-off again, from its folder",
    "load": "many operations at once through a server, judged by ledgers",
    "router": "the fake router alone, with its control port",
    "ca": "a CA for forwarders that speak TLS to their router",
    "faults": "the catalogue: what can go wrong, and what it proves",
    "evidence": "what bare HTTP clients see of every fault",
    "toxiproxy": "the real Toxiproxy: which server would be used; build one",
    "survey": "who retries what: every subject that can run here, published",
    "subjects": "the forwarders that can be examined here; what others lack",
}

_HELP = """\
usage: retryproof COMMAND [OPTION]...

Proof that a forwarder retries only what it may. A fake router breaks at an
exact point of the exchange, on real sockets, and knows what it really did; the
forwarder in front of it is judged by what it did with the evidence it had.

commands:
{commands}

start with:
  retryproof check              the reference forwarder, on the embedded router
  retryproof check nginx        another one (`retryproof subjects` lists them)
  retryproof check mine.toml    your own forwarder, described in a file
  retryproof COMMAND --help     what a command does, takes and returns

{exit_codes}
"""


def dispatch(arguments: list[str]) -> Exit:
    """Do what these arguments say, and return the exit code. Raises CommandError."""
    match arguments:
        case []:
            standard_output().write(help_text())
            return Exit.USAGE
        case ["-h" | "--help", *_] | ["help"]:
            standard_output().write(help_text())
            return Exit.PASS
        case ["--version", *_]:
            standard_output().write(f"{tool()}\n")
            return Exit.PASS
        case [name, *rest] if name in SUMMARIES:
            return _run(command_named(name), rest)
        case [name, *_]:
            near = get_close_matches(name, SUMMARIES, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            what = "option" if name.startswith("-") else "command"
            raise CommandError(
                f"{what} {name!r} is not known; expected one of the commands {', '.join(SUMMARIES)}{hint}", Exit.USAGE
            )
    raise AssertionError(arguments)


def command_named(name: str) -> Command:
    """One of SUMMARIES."""
    command = import_module(f"retryproof.{name}").COMMAND
    assert isinstance(command, Command)
    return command


def _run(command: Command, arguments: list[str]) -> Exit:
    parser = command.parser()
    if set(HELP) & set(arguments):  # also beside arguments that are wrong
        standard_output().write(parser.format_help())
        return Exit.PASS
    try:
        return command.run(parser.parse_intermixed_args(arguments))
    finally:
        if "suites.stacks.stack" in sys.modules:  # else it has joined no network
            from suites.stacks.stack import leave_network_of_stacks

            leave_network_of_stacks()


def help_text() -> str:
    """All commands, each in one line, and the exit codes."""
    commands = "\n".join(f"  {name:<10}{summary}" for name, summary in SUMMARIES.items())
    return _HELP.format(commands=commands, exit_codes=EXIT_CODES)


def tool() -> str:
    """The name and version of this tool, as reports say it."""
    try:
        return f"retryproof {version('retryproof')}"
    except PackageNotFoundError:
        raise CommandError(
            "retryproof is not installed, so its version is not known; expected `pip install .` in its folder",
            Exit.COULD_NOT_RUN,
        ) from None
