"""The router alone, for foreign subjects and containers: `python -m fake_router --port 8000 --control-port 8001`."""

import argparse
import asyncio
import json
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import uvloop

from fake_router.bound import written
from fake_router.control import Control
from fake_router.identity import Identity
from fake_router.server import Router
from fake_router.service import FORMS, INSTANT, Service, service_in
from faults.plan import MAX_UPSTREAMS

CANNOT_RUN = 4
INTERRUPTED = 130


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """The upstreams speak TLS as this identity; the certificate of its CA is written to `ca_file`."""

    ca_file: Path
    identity: Identity

    @staticmethod
    def under(names: Sequence[str], ca_file: Path) -> "Tls":
        """With a CA of its own, and certificates for these names as well. Raises ValueError for what is no name."""
        identity = Identity(names)
        identity.context()
        return Tls(ca_file=ca_file, identity=identity)


def serve(
    *,
    host: str = "127.0.0.1",
    ports: Sequence[int] = (0,),
    control_host: str = "127.0.0.1",
    control_port: int = 0,
    tls: Tls | None = None,
    service: Service = INSTANT,
) -> int:
    """Run a router with one upstream for each port, and its control API, until SIGINT or SIGTERM.

    Prints one JSON line with the addresses when both listen. Returns the exit code: 0 after SIGTERM, 130 after
    SIGINT, 4 with one message on standard error when it could not listen, or the file of its CA not be written.
    """
    try:
        if tls is not None:
            _write(tls)
        return uvloop.run(_serve(host, ports, control_host, control_port, tls, service))
    except OSError as error:
        print(f"fake router: {error.strerror or error}", file=sys.stderr)
        return CANNOT_RUN


def _write(tls: Tls) -> None:
    try:
        tls.ca_file.write_bytes(tls.identity.ca_pem)
    except OSError as error:
        raise OSError(error.errno, f"cannot write the CA to {str(tls.ca_file)!r}: {error.strerror}") from None


async def _serve(
    host: str, ports: Sequence[int], control_host: str, control_port: int, tls: Tls | None, service: Service
) -> int:
    ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    for number, code in ((signal.SIGTERM, 0), (signal.SIGINT, INTERRUPTED)):
        asyncio.get_running_loop().add_signal_handler(number, _end, ended, code)
    identity = None if tls is None else tls.identity
    async with Router(upstreams=len(ports), host=host, ports=ports, identity=identity, service=service) as router:
        control = Control(router, host=control_host, port=control_port)
        await control.start()
        try:
            addresses: dict[str, list[str] | str] = {
                "upstreams": [written(host, port) for port in router.ports],
                "control": written(control_host, control.port),
            }
            if tls is not None:
                addresses["ca"] = str(tls.ca_file)
            _say(json.dumps(addresses))
            return await ended
        finally:
            await control.close()


def _say(line: str) -> None:
    """Unbuffered: of what is left in a buffer the interpreter would complain at its end, with another exit code."""
    try:
        if sys.stdout is not None:
            os.write(sys.stdout.fileno(), f"{line}\n".encode())
    except OSError as error:
        says = f"cannot write to standard output where it listens: {error.strerror}; expected somebody who reads it"
        raise OSError(error.errno, says) from None


def _end(ended: "asyncio.Future[int]", code: int) -> None:
    if not ended.done():
        ended.set_result(code)


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the options and serve. Wrong options end with SystemExit(2)."""
    parser = argparse.ArgumentParser(
        prog="python -m fake_router", description="A router that breaks where armed plans say."
    )
    parser.add_argument("--host", default="127.0.0.1", help="address of the upstreams")
    parser.add_argument(
        "--port", type=_port, action="append", help="port of an upstream, 0 for any; repeat it for more upstreams"
    )
    parser.add_argument("--control-host", default="127.0.0.1", help="address of the control API (no authentication)")
    parser.add_argument("--control-port", type=_port, default=0, help="port of the control API, 0 for any")
    parser.add_argument("--tls-ca", type=Path, help="speak TLS, and write the certificate of the CA to that file")
    parser.add_argument("--tls-name", action="append", default=[], help="one more name in the certificates")
    parser.add_argument("--service", type=service_type, default=INSTANT, help=f"how long work takes: {FORMS}")
    options = parser.parse_args(arguments)
    ports = options.port or [0]
    if len(ports) > MAX_UPSTREAMS:
        parser.error(f"{len(ports)} times --port; expected at most {MAX_UPSTREAMS}")
    if options.tls_name and options.tls_ca is None:
        parser.error(f"--tls-name {options.tls_name[0]!r} without --tls-ca; expected both, or neither")
    try:
        tls = None if options.tls_ca is None else Tls.under(options.tls_name, options.tls_ca)
    except ValueError as error:
        parser.error(f"--tls-name: {error}")
    return serve(
        host=options.host,
        ports=ports,
        control_host=options.control_host,
        control_port=options.control_port,
        tls=tls,
        service=options.service,
    )


def service_type(text: str) -> Service:
    """A type for options: how long work takes."""
    try:
        return service_in(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r}; expected 0 to 65535")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
