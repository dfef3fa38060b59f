"""`python -m forwarder`: the forwarder as a server in a process of its own."""

import argparse
import json
import os
import signal
import socket
import ssl
import sys
from collections.abc import Callable, Sequence

import uvloop

from forwarder.client import Forwarder
from forwarder.policy import POLICIES, Policy, UnknownPolicyError, policy_named
from forwarder.settings import Settings
from forwarder.urls import RotatingUrls

COULD_NOT_RUN = 4
INTERRUPTED = 130
KERNEL_BACKLOG = 4096  # net.core.somaxconn cuts a larger one silently
SMALLEST_BACKLOG = 128  # callers beyond the connection limit queue here

_DEFAULTS = Settings()

_ABOUT = """\
Takes POST /v1/completions and /v1/chat/completions, whole or streamed, and passes it on to a router: once, and once
more only when the evidence of the failure proves that the router never applied the first (policy `safe`)."""

_MORE = """\
answers:
  200  the router's JSON, unchanged, checked to be whole and what was asked for; or its events, checked as they pass:
       a stream without [DONE] has failed, and ends with an error event and short of its last chunk
  503  not_executed   nothing ran; the caller may send it again
  504  may_have_run   the router went silent; it may still be running
  502  may_have_run, or result_lost: a 2xx came whose body is cut or invalid (it was executed)
  4xx  rejected       the router's own status
  400  bad_request    nothing was sent
  Each error is {"error": {"type", "message", "executed": "no" | "unknown" | "yes", "attempts"}}.
  GET /healthz answers {"in_flight": n}.

When it listens it prints one line of JSON to stdout: {"listening": "HOST:PORT", "host", "port", "pid"}.
SIGTERM: it takes no new request, answers those in flight, and exits with 0. Logs go to stderr.
Exit codes: 0 ended by SIGTERM, 2 wrong usage, 4 could not listen, 130 after Ctrl-C.

example:
  python -m forwarder --listen 127.0.0.1:8080 --router http://10.0.0.1:8000 --router http://10.0.0.2:8000"""


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until a signal; the exit code."""
    parser = _parser()
    options = parser.parse_args(argv)
    try:
        settings = Settings(
            max_connections=options.max_connections,
            connect_timeout_ms=options.connect_timeout_ms,
            read_timeout_ms=options.read_timeout_ms,
            tls=None if options.ca is None else _trusting(options.ca),
            nameservers=tuple(filter(None, options.nameserver)),
        )
        urls = RotatingUrls(options.router)
    except ValueError as error:
        parser.error(str(error))
    host, port = options.listen
    try:
        listener = _bound(host, port)
    except OSError as error:
        return _could_not_listen(host, port, error)
    forwarder = Forwarder(urls, policy=options.policy, settings=settings)
    caught: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        # uvicorn raises a signal again when it has finished: it ends up here, and the exit code is ours. One that
        # comes before uvicorn listens for signals ends up here too, and is heeded as soon as it is ready.
        signal.signal(number, lambda number, _: caught.append(number))
    with listener:
        refused = uvloop.run(_serve(forwarder, listener, options, caught))
    if refused is not None:
        return _could_not_listen(host, port, refused)
    return INTERRUPTED if signal.SIGINT in caught else 0


async def _serve(
    forwarder: Forwarder, listener: socket.socket, options: argparse.Namespace, caught: list[int]
) -> OSError | None:
    from forwarder.server import ListenError, server_of  # the web framework is loaded when the flags are right

    def ready() -> bool:
        if caught:
            return False
        host, port = listener.getsockname()[:2]
        shown = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        print(json.dumps({"listening": shown, "host": host, "port": port, "pid": os.getpid()}), flush=True)
        return True

    async with forwarder:
        server = server_of(
            forwarder,
            backlog=options.backlog or _backlog_for(options.max_connections),
            keep_alive_s=options.keep_alive_s,
            access_log=options.access_log,
            ready=ready,
        )
        try:
            await server.serve(sockets=[listener])
        except ListenError as error:
            return error.error
    return None


def _trusting(path: str) -> ssl.SSLContext:
    """It verifies chain and name. Raises ValueError for a file that cannot be read or holds no certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(cafile=path)
    except OSError as error:  # ssl.SSLError is one
        raise ValueError(f"--ca {path!r}: {error}; expected a file with certificates in PEM") from None
    return context


def _backlog_for(max_connections: int) -> int:
    return max(SMALLEST_BACKLOG, max_connections) if max_connections else KERNEL_BACKLOG


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
    except BaseException:
        listener.close()
        raise
    return listener


def _could_not_listen(host: str, port: int, error: OSError) -> int:
    reason = error.strerror or str(error)
    print(
        f"python -m forwarder: cannot listen on {host}:{port}: {reason}; "
        "expected a free port of this machine: choose another with --listen HOST:PORT (port 0: any free one)",
        file=sys.stderr,
    )
    return COULD_NOT_RUN


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m forwarder",
        description=_ABOUT,
        epilog=_MORE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    _add_addresses(parser.add_argument)
    _add_sending(parser.add_argument)
    _add_callers(parser.add_argument)
    return parser


_Add = Callable[..., argparse.Action]


def _add_addresses(add: _Add) -> None:
    """Where it listens, and where and who its router is."""
    add(
        "--listen",
        type=_address,
        default=("127.0.0.1", 8080),
        metavar="HOST:PORT",
        help="where to listen; port 0 takes a free one (default: 127.0.0.1:8080)",
    )
    add(
        "--router",
        action="append",
        required=True,
        metavar="URL",
        help="where the router is; given several times: all stick to one, and move on when it fails safely",
    )
    add(
        "--nameserver",
        action="append",
        default=[],
        metavar="HOST:PORT",
        help="whom to ask for names; may be given several times (default, and where empty: the system's resolver)",
    )
    add(
        "--ca",
        metavar="FILE",
        help="the CA certificates, in PEM, that an https router's must come from (default: the system's)",
    )


def _add_sending(add: _Add) -> None:
    """What is sent again, how long it waits for the router, and over how many connections."""
    add(
        "--policy",
        type=_policy,
        default="safe",
        metavar="NAME",
        help="what is sent again: " + "; ".join(f"{p.name}: {p.says}" for p in POLICIES.values()) + " (default: safe)",
    )
    add(
        "--connect-timeout-ms",
        type=int,
        default=_DEFAULTS.connect_timeout_ms,
        metavar="MS",
        help="for the handshake with the router; waiting for a free connection does not count (default: %(default)s)",
    )
    add(
        "--read-timeout-ms",
        type=int,
        default=_DEFAULTS.read_timeout_ms,
        metavar="MS",
        help="silence of the router that is taken for a failure: raise it for long generations (default: %(default)s)",
    )
    add(
        "--max-connections",
        type=int,
        default=_DEFAULTS.max_connections,
        metavar="N",
        help="connections to the router at most; more requests wait (default: 0, no limit)",
    )


def _add_callers(add: _Add) -> None:
    """How long it waits for callers, how many may wait for it, and what it writes of them."""
    add(
        "--keep-alive-s",
        type=_positive,
        default=75,
        metavar="S",
        help="how long a caller's idle connection is kept (default: %(default)s)",
    )
    add(
        "--backlog",
        type=_positive,
        default=None,
        metavar="N",
        help="callers that may wait to be accepted (default: as many as --max-connections, at least "
        f"{SMALLEST_BACKLOG}; {KERNEL_BACKLOG} when that is 0)",
    )
    add("--access-log", action=argparse.BooleanOptionalAction, default=True, help="a line on stderr for each request")


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not host or not port.isdecimal() or int(port) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r}; expected HOST:PORT with a port from 0 to 65535")
    return host, int(port)


def _policy(name: str) -> Policy:
    try:
        return policy_named(name)
    except UnknownPolicyError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}; expected a whole number from 1")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
