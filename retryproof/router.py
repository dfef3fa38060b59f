"""`retryproof router`: the fake router alone, for foreign subjects and for containers."""

import argparse

from retryproof.command import Command, whole_number
from retryproof.exits import CommandError, Exit

_DESCRIPTION = """\
Run the fake router alone, with its control port, for a forwarder that runs
elsewhere. One JSON line on standard output names the addresses when it is ready."""

_EPILOG = """\
the control API:
  POST /arm              arm a plan: what strikes from now on
  POST /gates/NAME       open a gate
  POST /heal             nothing strikes any more
  POST /drain            read what lies unread, and record it
  GET  /ledger?since=N   what really happened, as JSON lines
  POST /reset            start over

examples:
  retryproof router --port 8000 --control-port 8001
  retryproof router --host 0.0.0.0 --port 8000 --port 8002    two upstreams

exit codes:
  0    ended by Ctrl-C or SIGTERM, in good order
  2    wrong usage
  4    it could not listen: a port is in use, or not ours to have"""


def _options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="the address to listen on (default 127.0.0.1)")
    port = whole_number(0, 65_535)
    add(
        "--port",
        type=port,
        action="append",
        metavar="N",
        help="a port; again for another upstream; 0, the default: any",
    )
    add("--control-port", type=port, default=0, metavar="N", help="the port of the control API; 0, the default: any")


def _run(options: argparse.Namespace) -> Exit:
    from fake_router.__main__ import serve  # no other command needs it

    try:
        return Exit(serve(host=options.host, ports=options.port or [0], control_port=options.control_port))
    except OSError as error:
        raise CommandError(
            f"cannot listen on {options.host!r}, ports {options.port or [0]}, control port {options.control_port}: "
            f"{error.strerror or error}; expected an address of this machine and free ports (0: any)",
            Exit.COULD_NOT_RUN,
        ) from None


COMMAND = Command(
    name="router",
    summary="the fake router alone, with its control port",
    description=_DESCRIPTION,
    epilog=_EPILOG,
    options=_options,
    run=_run,
)
