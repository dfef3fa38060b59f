"""Every option of the server in one table: its flag and environment variable, its default and what it does.

The command line, the environment and the table in docs/server.md are made from it.
"""

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from forwarder.api import values
from forwarder.api.option import Option
from forwarder.api.patience import DRAIN_S, LAST_ANSWERS_S
from forwarder.futures.limits import Limits, Ttl
from forwarder.policy import POLICIES
from forwarder.settings import Settings

KERNEL_BACKLOG = 4096  # the usual net.core.somaxconn, which cuts a larger backlog
SMALLEST_BACKLOG = 128  # callers beyond the connection limit queue here

_DEFAULTS = Settings()
_LIMITS = Limits()
_TTL = Ttl()


_POLICIES = "; ".join(f"{policy.name}: {policy.says}" for policy in POLICIES.values())

OPTIONS: tuple[Option, ...] = (
    Option(
        flag="--listen",
        parse=values.address,
        metavar="HOST:PORT",
        default="127.0.0.1:8080",
        says="where to listen; port 0 takes a free one",
    ),
    Option(
        flag="--router",
        parse=values.text,
        metavar="URL",
        several=True,
        required=True,
        says="where the router is; given several times: all stick to one, and move on when it fails safely",
    ),
    Option(
        flag="--nameserver",
        parse=values.text,
        metavar="HOST:PORT",
        several=True,
        says="whom to ask for names; may be given several times (none, or empty: the system's resolver)",
    ),
    Option(
        flag="--ca",
        parse=values.text,
        metavar="FILE",
        says="the CA certificates, in PEM, that an https router's must come from (none: the system's)",
    ),
    Option(
        flag="--policy",
        parse=values.policy,
        metavar="NAME",
        default="safe",
        says=f"what is sent again: {_POLICIES}",
    ),
    Option(
        flag="--connect-timeout-ms",
        parse=values.whole,
        metavar="MS",
        default=str(_DEFAULTS.connect_timeout_ms),
        says="for the handshake with the router; waiting for a free connection does not count",
    ),
    Option(
        flag="--read-timeout-ms",
        parse=values.whole,
        metavar="MS",
        default=str(_DEFAULTS.read_timeout_ms),
        says="silence of the router that is taken for a failure: raise it for long generations",
    ),
    Option(
        flag="--max-connections",
        parse=values.whole,
        metavar="N",
        default=str(_DEFAULTS.max_connections),
        says="connections to the router at most; more requests wait (0: no limit)",
    ),
    Option(
        flag="--http-client",
        parse=values.http_client,
        metavar="NAME",
        default="aiohttp",
        says="what carries requests to the router; httpx, with its own limits unless --max-connections is given, is "
        "there to be measured against",
    ),
    Option(
        flag="--model",
        parse=values.text,
        metavar="NAME",
        several=True,
        says="a model that get_server_capabilities names; may be given several times (any model may be sampled)",
    ),
    Option(
        flag="--store",
        parse=values.store,
        metavar="WHERE",
        default="memory",
        says="where futures are kept: memory, or sqlite:PATH, which outlives a crash",
    ),
    Option(
        flag="--hold-s",
        parse=values.positive,
        metavar="S",
        default=str(_TTL.hold_ms // 1000),
        says="how long a poll is held when its result has not come; then it is told to try again",
    ),
    Option(
        flag="--undelivered-ttl-s",
        parse=values.positive,
        metavar="S",
        default=str(_TTL.undelivered_ms // 1000),
        says="how long a result is kept that nobody can have got",
    ),
    Option(
        flag="--retrieved-ttl-s",
        parse=values.positive,
        metavar="S",
        default=str(_TTL.retrieved_ms // 1000),
        says="how long a result is kept after it was possibly delivered: longer than two polls that miss take",
    ),
    Option(
        flag="--session-ttl-s",
        parse=values.positive,
        metavar="S",
        default=str(_TTL.session_ms // 1000),
        says="how long a session lives after its last heartbeat; its keys end with it",
    ),
    Option(
        flag="--max-stored-bytes",
        parse=values.positive,
        metavar="N",
        default=str(_LIMITS.max_bytes),
        says="bytes of requests that come or run, of results and of what is kept of them; more is refused with 429",
    ),
    Option(
        flag="--max-futures",
        parse=values.positive,
        metavar="N",
        default=str(_LIMITS.max_futures),
        says="operations that run or whose outcome is kept; more are refused at submit with 429",
    ),
    Option(
        flag="--max-body-bytes",
        parse=values.positive,
        metavar="N",
        default=str(16 * 1024**2),
        says="a larger request is refused with 413: this is more than two million tokens, and to read them holds up "
        "everybody else for some tenths of a second",
    ),
    Option(
        flag="--body-timeout-s",
        parse=values.positive,
        metavar="S",
        default="60",
        says="a request whose body takes longer is refused with 408",
    ),
    Option(
        flag="--keep-alive-s",
        parse=values.positive,
        metavar="S",
        default="75",
        says="how long a caller's idle connection is kept, and how long one that takes no byte of its result",
    ),
    Option(
        flag="--backlog",
        parse=values.positive,
        metavar="N",
        says="callers that may wait to be accepted (none: as many as --max-connections, at least "
        f"{SMALLEST_BACKLOG}; {KERNEL_BACKLOG} when that is 0)",
    ),
    Option(
        flag="--access-log",
        parse=values.switch,
        metavar="BOOL",
        default="true",
        says="a line on stderr for each request; lines that nobody takes from stderr are dropped and counted",
    ),
    Option(
        flag="--drain-s",
        parse=values.not_negative,
        metavar="S",
        default=str(DRAIN_S),
        says="how long operations in flight may go on after SIGTERM; callers then have "
        f"{LAST_ANSWERS_S} s to take their answers: within the 30 s that Kubernetes gives, with some to spare",
    ),
    Option(
        flag="--test-clock",
        parse=values.not_negative,
        metavar="START_MS",
        says="for tests: holds and lifetimes run by a clock that starts here and moves by POST /test/advance alone; "
        "loopback only (none: the machine's clock)",
    ),
)


def add_to(parser: argparse.ArgumentParser) -> None:
    """Give the parser every option; `read` then makes the values of what it found."""
    for option in OPTIONS:
        default = f"default: {option.default}; " if option.default is not None else ""
        shown = f"{option.says} ({default}${option.variable})".replace("%", "%%")
        if option.is_switch:
            parser.add_argument(option.flag, action=argparse.BooleanOptionalAction, help=shown)
        else:
            action = "append" if option.several else "store"
            parser.add_argument(option.flag, action=action, metavar=option.metavar, type=option.parse, help=shown)


def read(parser: argparse.ArgumentParser, argv: Sequence[str] | None, environ: Mapping[str, str]) -> argparse.Namespace:
    """The value of each option: the command line's, else the environment's, else the default. Wrong usage exits."""
    found = parser.parse_args(argv)
    for option in OPTIONS:
        if getattr(found, option.name) is None:
            setattr(found, option.name, _without_flag(option, parser, environ))
    return found


def _without_flag(option: Option, parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> Any:
    given = environ.get(option.variable)
    if not given:
        if option.required:
            parser.error(f"the following arguments are required: {option.flag} (or ${option.variable})")
        return option.value_of([] if option.default is None else [option.default])
    try:
        return option.value_of(given.split() if option.several else [given])
    except argparse.ArgumentTypeError as error:
        parser.error(f"${option.variable}: {error}")


def table() -> str:
    """The options as a table in Markdown."""
    rows = ["| flag | environment | default | what it does |", "|---|---|---|---|"]
    for option in OPTIONS:
        flag = f"`{option.flag}`" if option.is_switch else f"`{option.flag} {option.metavar}`"
        default = "-" if option.default is None else f"`{option.default}`"
        rows.append(f"| {flag} | `{option.variable}` | {default} | {option.says} |")
    return "\n".join(rows) + "\n"
