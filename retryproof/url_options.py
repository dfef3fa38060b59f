"""Options about a subject that is a URL: what a subject file would say of it."""

import argparse
from collections.abc import Sequence

from retryproof.exits import CommandError, Exit
from retryproof.output import say
from suites.given import Given, assumed, is_a_url, refuse_bare_url
from suites.subject_reader import SubjectFileError

EPILOG = """\
a forwarder that runs already:
  retryproof check http://127.0.0.1:8000 --listen 127.0.0.1:9000 \\
      --speaks openai-completions --promises transparent \\
      --set read_timeout_ms=2000 --set headers.Authorization='Bearer x'

  It must have been told beforehand that its router is at --listen, once for
  each upstream; the fake router listens there until the end. --set takes the
  other keys of a subject file (docs/subjects.md): time-outs, quiet_ms or idle,
  headers.NAME, body, ca_file, probes, reach.FAULT, says.not_executed, ..."""


def add_url_options(parser: argparse.ArgumentParser) -> None:
    """The options that belong to a URL."""
    add = parser.add_argument
    add(
        "--listen",
        action="append",
        default=[],
        metavar="HOST:PORT",
        help="of a URL: where it was told to find its router; again for another upstream",
    )
    add(
        "--speaks",
        metavar="FORMAT",
        help="of a URL: openai-completions, openai-chat, both with a comma between, or tinker",
    )
    add("--promises", metavar="PROMISE", help="of a URL: transparent, answering or futures")
    add(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="of a URL: another key of a subject file, e.g. read_timeout_ms=2000 or probes=/ready,/live",
    )


def given_in(options: argparse.Namespace, names: Sequence[str]) -> Given:
    """What those options say. Raises CommandError (exit code 2) where they cannot be about one URL."""
    given = Given(
        listen=tuple(options.listen), speaks=options.speaks, promises=options.promises, settings=tuple(options.set)
    )
    urls = [name for name in names if is_a_url(name)]
    if len(urls) > 1 or (urls and len(names) > 1):
        raise CommandError(
            f"{urls[0]!r} beside {len(names) - 1} more; expected one URL alone: --listen and the others are about it "
            "(a TOML file with `url` can stand beside others)",
            Exit.USAGE,
        )
    if urls and options.own_network:
        raise CommandError(
            f"{urls[0]!r} beside --own-network; expected one of them: what runs already cannot be reached from a "
            "network of our own",
            Exit.USAGE,
        )
    return given


def say_assumed(names: Sequence[str], given: Given) -> None:
    """What nobody has said of a URL, and is taken for granted."""
    for name in names:
        if is_a_url(name) and (says := assumed(given)):
            say(f"taken for granted of {name}: {says}; say otherwise with --set, or faults in time miss it")


def refuse_urls(names: Sequence[str]) -> None:
    """Where each subject would need options of its own. Raises CommandError (exit code 2)."""
    for name in names:
        try:
            refuse_bare_url(name)
        except SubjectFileError as error:
            raise CommandError(str(error), Exit.USAGE) from None
