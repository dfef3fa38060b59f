"""`python -m forwarder`: the forwarder as a server in a process of its own."""

import argparse
import ipaddress
import json
import os
import signal
import socket
import ssl
import sys
from collections.abc import Sequence
from pathlib import Path

import uvloop

from forwarder.api.options import KERNEL_BACKLOG, SMALLEST_BACKLOG, add_to, read
from forwarder.carrier import MissingCarrierError, carrier_named
from forwarder.settings import Settings
from forwarder.urls import RotatingUrls

COULD_NOT_RUN = 4
INTERRUPTED = 130
_SOMAXCONN = Path("/proc/sys/net/core/somaxconn")

_ABOUT = """\
Takes POST /v1/completions and /v1/chat/completions, whole or streamed, and the sampling path of the Tinker SDK under
/api/v1, and passes it on to a router: once, and once more only when the evidence of the failure proves that the router
never applied the first (policy `safe`)."""

_MORE = """\
answers under /v1:
  200  the router's JSON, unchanged, checked to be whole and what was asked for; or its events, checked as they pass:
       a stream without [DONE] has failed, and ends with an error event and short of its last chunk
  503  not_executed   nothing ran; the caller may send it again
  504  may_have_run   the router went silent; it may still be running
  502  may_have_run, or result_lost: a 2xx came whose body is cut or invalid (it was executed)
  4xx  rejected       the router's own status
  400  bad_request    nothing was sent
  Each error is {"error": {"type", "message", "executed": "no" | "unknown" | "yes", "attempts"}}.
under /api/v1: asample answers with the id of a future, retrieve_future with its result once it is there; all answers
  are in docs/server.md.
GET /healthz answers {"in_flight": n}, GET /metrics what Prometheus scrapes.

When it listens it prints one line of JSON to stdout: {"listening": "HOST:PORT", "host", "port", "pid"}.
SIGTERM: it takes no new request, answers those in flight (for --drain-s seconds; a second signal skips them), gives
every future an outcome, and exits with 0. Logs go to stderr.
Exit codes: 0 ended by SIGTERM, 2 wrong usage, 4 could not listen, or its store
  cannot be used or broke down, 130 after Ctrl-C.

example:
  python -m forwarder --listen 127.0.0.1:8080 --router http://10.0.0.1:8000 --router http://10.0.0.2:8000"""


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until a signal; the exit code."""
    parser = _parser()
    options = read(parser, argv, os.environ)
    try:
        settings = _settings(options)
        urls = RotatingUrls(options.router)
        _check(options)
        carrier_named(options.http_client)
    except ValueError as error:
        parser.error(str(error))
    except MissingCarrierError as error:
        print(f"python -m forwarder: --http-client: {error}", file=sys.stderr)
        return COULD_NOT_RUN
    host, port = options.listen
    try:
        listener = _bound(host, port)
    except OSError as error:
        return _could_not_listen(host, port, error)
    _say_what_caps(_backlog(options))
    caught: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        # uvicorn raises a signal again when it has finished: it ends up here, and the exit code is ours. One that
        # comes before uvicorn listens for signals ends up here too, and is heeded as soon as it is ready.
        signal.signal(number, lambda number, _: caught.append(number))
    with listener:
        wrong = uvloop.run(_serve(listener, options, settings, urls, caught))
    if isinstance(wrong, OSError):
        return _could_not_listen(host, port, wrong)
    if wrong is not None:
        print(f"python -m forwarder: --store: {wrong}", file=sys.stderr)
        return COULD_NOT_RUN
    return INTERRUPTED if signal.SIGINT in caught else 0


def _settings(options: argparse.Namespace) -> Settings:
    return Settings(
        max_connections=options.max_connections,
        connect_timeout_ms=options.connect_timeout_ms,
        read_timeout_ms=options.read_timeout_ms,
        tls=None if options.ca is None else _trusting(options.ca),
        nameservers=tuple(filter(None, options.nameserver)),
    )


def _check(options: argparse.Namespace) -> None:
    from forwarder.api.starting import limits_of, ttl_of

    ttl_of(options)
    limits_of(options)
    host = options.listen[0]
    if options.test_clock is not None and not (host == "localhost" or ipaddress.ip_address(host).is_loopback):
        raise ValueError(
            f"--test-clock with --listen {host}; expected a loopback address: anybody could move the clock"
        )


async def _serve(
    listener: socket.socket, options: argparse.Namespace, settings: Settings, urls: RotatingUrls, caught: list[int]
) -> Exception | None:
    # The web framework is loaded when the flags are right.
    from forwarder.api.app import app_of
    from forwarder.api.logs import Logs, set_up
    from forwarder.api.metrics import Metrics
    from forwarder.api.starting import service_of
    from forwarder.client import Forwarder
    from forwarder.collecting import collect_seldom
    from forwarder.futures.clock import ManualClock, SystemClock
    from forwarder.futures.errors import JournalError
    from forwarder.server import ListenError, server_of

    def ready() -> bool:
        if caught:
            return False
        host, port = listener.getsockname()[:2]
        shown = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        print(json.dumps({"listening": shown, "host": host, "port": port, "pid": os.getpid()}), flush=True)
        return True

    metrics = Metrics()
    manual = None if options.test_clock is None else ManualClock(options.test_clock)
    forwarder = Forwarder(
        urls, policy=options.policy, settings=settings, on_retry=metrics.retry, http_client=options.http_client
    )
    with Logs() as logs:
        set_up(logs, access_log=options.access_log)
        metrics.read({"forwarder_dropped_log_lines": ("Log lines that nobody took.", lambda: logs.dropped)})
        async with forwarder:
            try:
                service = await service_of(options, forwarder, metrics, manual or SystemClock())
            except JournalError as error:
                return error
            server = server_of(
                app_of(service, manual),
                service,
                backlog=_backlog(options),
                keep_alive_s=options.keep_alive_s,
                access_log=options.access_log,
                ready=ready,
            )
            collect_seldom()
            try:
                await server.serve(sockets=[listener])
            except ListenError as error:
                return error.error
            return service.ending.broken


def _trusting(path: str) -> ssl.SSLContext:
    """It verifies chain and name. Raises ValueError for a file that cannot be read or holds no certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(cafile=path)
    except OSError as error:  # ssl.SSLError is one
        raise ValueError(f"--ca {path!r}: {error}; expected a file with certificates in PEM") from None
    return context


def _backlog(options: argparse.Namespace) -> int:
    if options.backlog:
        return int(options.backlog)
    return max(SMALLEST_BACKLOG, options.max_connections) if options.max_connections else KERNEL_BACKLOG


def _say_what_caps(backlog: int) -> None:
    """The kernel cuts a backlog without a word; here is one."""
    try:
        most = int(_SOMAXCONN.read_text())
    except (OSError, ValueError):
        return
    if backlog > most:
        print(
            f"python -m forwarder: the backlog of {backlog} is cut to {most} by net.core.somaxconn: "
            "raise that (sysctl), or a burst of callers meets a full queue",
            file=sys.stderr,
            flush=True,
        )


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
    add_to(parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
