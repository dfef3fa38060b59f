"""`retryproof`: one command, with a sub-command for each thing a person does. It only parses, calls and exits."""

import sys
import traceback

import typer

from retryproof import check, describe, replay, router, signoff
from retryproof.exits import CommandError, Exit

app = typer.Typer(
    name="retryproof",
    no_args_is_help=True,
    rich_markup_mode="rich",
    add_completion=False,
    pretty_exceptions_enable=False,
    help="""Proof that a forwarder retries only what it may.

    A fake router breaks at an exact point of the exchange, on real sockets, and knows what it really did; the
    forwarder in front of it is judged by what it did with the evidence it had.

    [bold]Start with[/bold]  retryproof check            the reference forwarder, on the embedded router
               retryproof check nginx      another subject (`retryproof subjects` lists them)
               retryproof check mine.toml  your own forwarder, described in a file

    [bold]Exit codes[/bold]  0 PASS, 1 FAIL, 2 wrong usage or bad input, 3 UNKNOWN (it proved nothing),
    4 could not run, 130 interrupted (what was found so far is written).
    """,
)
check.register(app)
signoff.register(app)
replay.register(app)
router.register(app)
describe.register(app)


def main() -> None:
    """Run the command and end the process with its exit code."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """The command with these arguments; returns its exit code."""
    try:
        app(args=arguments, prog_name="retryproof")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else Exit.PASS
    except CommandError as error:
        return _say(str(error), error.code)
    except KeyboardInterrupt:
        return _say("interrupted", Exit.INTERRUPTED)
    except Exception:  # noqa: BLE001  # the one place where a bug of ours becomes exit code 4
        return _say(f"internal error:\n{traceback.format_exc()}", Exit.COULD_NOT_RUN)
    return Exit.PASS


def _say(message: str, code: Exit) -> Exit:
    print(f"retryproof: {message}", file=sys.stderr)
    return code


if __name__ == "__main__":
    main()
