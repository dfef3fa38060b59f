"""`retryproof router`: the fake router alone, for foreign subjects and for containers."""

import argparse

from fake_router.__main__ import Tls, serve, service_type
from fake_router.service import INSTANT
from faults.plan import MAX_UPSTREAMS
from retryproof.command import Command, file_path, whole_number
from retryproof.exits import CommandError, Exit

_DESCRIPTION = """\
Run the fake router alone, with its control port, for a forwarder that runs
elsewhere. One JSON line on standard output names the addresses when it is
ready."""

_EPILOG = """\
the control API:
  POST /arm              arm a plan: what strikes from now on
  POST /gates/NAME       open a gate
  POST /heal             nothing strikes any more
  POST /drain            read what lies unread, and record it
  GET  /ledger?since=N   what really happened, as JSON lines; &follow=1: live
  GET  /account          what became of every operation, counted
  POST /release          answer what --service held or burst holds
  GET  /status           how much is open, held, in service and queued
  POST /reset            start over

examples:
  retryproof router --port 8000 --control-port 8001
  retryproof router --host 0.0.0.0 --port 8000 --port 8002    two upstreams
  retryproof router --service engine:2048,5      a queue before 2048 places
  retryproof router --port 8443 --tls-ca ca.pem               over TLS

exit codes:
  0    ended by SIGTERM, in good order
  2    wrong usage
  4    it could not listen: a port is in use, or the address is not ours
  130  ended by Ctrl-C, in good order"""


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
    add("--control-host", default="127.0.0.1", help="the address of the control API, which asks for no password")
    add(
        "--tls-ca",
        type=file_path,
        metavar="FILE",
        help="speak TLS, and write the certificate of the CA there, for the forwarder to trust",
    )
    add(
        "--tls-name",
        action="append",
        default=[],
        metavar="NAME",
        help="a name or address by which the forwarder calls the router, beside localhost and its addresses; again for "
        "another",
    )
    add("--control-port", type=port, default=0, metavar="N", help="the port of the control API; 0, the default: any")
    add(
        "--service",
        type=service_type,
        default=INSTANT,
        metavar="SERVICE",
        help="how long work takes: instant (the default); held: until POST /release, then answered one by one; burst: "
        "until then, and all at once; engine:CAPACITY,SECONDS: so long each, no more than CAPACITY at a time, the "
        "others queue",
    )


def _run(options: argparse.Namespace) -> Exit:
    ports = options.port or [0]
    if len(ports) > MAX_UPSTREAMS:
        raise CommandError(f"{len(ports)} times --port; expected at most {MAX_UPSTREAMS}", Exit.USAGE)
    if options.tls_name and options.tls_ca is None:
        raise CommandError(
            f"--tls-name {options.tls_name[0]!r} without --tls-ca FILE; expected both, or neither", Exit.USAGE
        )
    try:
        tls = None if options.tls_ca is None else Tls.under(options.tls_name, options.tls_ca)
    except ValueError as error:
        raise CommandError(f"--tls-name: {error}; expected a host name or an address", Exit.USAGE) from None
    return Exit(
        serve(
            host=options.host,
            ports=ports,
            control_host=options.control_host,
            control_port=options.control_port,
            tls=tls,
            service=options.service,
        )
    )


COMMAND = Command(
    name="router",
    description=_DESCRIPTION,
    epilog=_EPILOG,
    options=_options,
    run=_run,
)
