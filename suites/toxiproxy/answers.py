"""What is said to Toxiproxy's API and what it answers, as JSON taken apart; no sockets."""

import re
from dataclasses import dataclass
from typing import Any, TypeVar, assert_never
from urllib.parse import urlsplit

from fake_router.bound import written
from faults.toxics import (
    Bandwidth,
    Direction,
    Down,
    Latency,
    LimitData,
    OneWayToxic,
    ResetPeer,
    Slicer,
    SlowClose,
    Timeout,
    Toxic,
)
from suites.toxiproxy.errors import NotThereError, NotToxiproxyError, ToxiproxyError
from suites.way import Address

T = TypeVar("T")
DEFAULT_PORT, MAX_PORT = 8474, 65535
SHOWN_CHARACTERS = 120
COUNTING = "-proxy-metrics"
EXPECTED_API = "expected Toxiproxy's API"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    """One way through Toxiproxy, as its server described it when asked."""

    name: str
    listen: Address
    upstream: Address
    enabled: bool


def address_of(url: str) -> Address:
    """Host and port of Toxiproxy's API. Raises ToxiproxyError for what is no URL of it."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ToxiproxyError(f"{url!r} is no URL: {error}; {_EXPECTED_URL}") from None
    rest = (parts.path.rstrip("/"), parts.query, parts.fragment, parts.username, parts.password)
    if parts.scheme != "http" or not host or port == 0 or any(rest):
        raise ToxiproxyError(f"{url!r} is no URL of Toxiproxy's API; {_EXPECTED_URL}")
    return (f"[{host}]" if ":" in host else host, DEFAULT_PORT if port is None else port)


_EXPECTED_URL = "expected http://HOST:PORT, as in http://127.0.0.1:8474"


def in_its_words(toxic: OneWayToxic) -> tuple[str, dict[str, int]]:
    """The type and the attributes of a toxic."""
    match toxic:
        case Latency():
            return "latency", {"latency": toxic.latency_ms, "jitter": toxic.jitter_ms}
        case Bandwidth():
            return "bandwidth", {"rate": toxic.rate_kbytes_s}
        case Slicer():
            sizes = {"average_size": toxic.average_bytes, "size_variation": toxic.variation_bytes}
            return "slicer", {**sizes, "delay": toxic.delay_us}
        case SlowClose():
            return "slow_close", {"delay": toxic.delay_ms}
        case Timeout():
            return "timeout", {"timeout": toxic.timeout_ms}
        case ResetPeer():
            return "reset_peer", {"timeout": toxic.timeout_ms}
        case LimitData():
            return "limit_data", {"bytes": toxic.limit_bytes}
        case _ as never:
            assert_never(never)


def lies_in(said: Any, toxic: Toxic, url: str) -> bool:
    """That toxic lies over the proxy that is so described. Raises NotToxiproxyError."""
    if isinstance(toxic, Down):
        return not field_of(said, "enabled", bool, url)
    kind, attributes = in_its_words(toxic)
    return any(
        field_of(one, "type", str, url) == kind
        and field_of(one, "stream", str, url) == toxic.direction
        and field_of(one, "attributes", dict, url).items() >= attributes.items()
        and one.get("toxicity") == toxic.toxicity
        for one in field_of(said, "toxics", list, url)
    )


def wanted_proxy(name: str, upstream: Address, listen: Address, enabled: bool) -> dict[str, Any]:
    """A proxy as it is asked for."""
    return {
        "name": name,
        "listen": written(*listen),
        "upstream": written(*upstream),
        "enabled": enabled,
    }


def proxy_of(said: Any, url: str) -> Proxy:
    """A proxy as it is described. Raises NotToxiproxyError."""
    return Proxy(
        name=field_of(said, "name", str, url),
        listen=_address(field_of(said, "listen", str, url), url),
        upstream=_address(field_of(said, "upstream", str, url), url),
        enabled=field_of(said, "enabled", bool, url),
    )


def field_of(said: Any, key: str, kind: type[T], url: str) -> T:
    """One field of an answer. Raises NotToxiproxyError where it is not there, or no `kind`."""
    if not isinstance(said, dict) or not isinstance(said.get(key), kind):
        raise not_its_api(url, said)
    value: T = said[key]
    return value


def _address(text: str, url: str) -> Address:
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or len(port) > 5 or not 0 < int(port) <= MAX_PORT:
        raise not_its_api(url, text)
    return host.strip("[]"), int(port)


def not_its_api(url: str, said: Any, status: int | None = None) -> NotToxiproxyError:
    """An answer that Toxiproxy does not give."""
    text = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
    shown = text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "..."
    kind = NotThereError if status == 404 else NotToxiproxyError
    return kind(f"{url} answered {'' if status is None else f'{status} '}{shown!r}; {EXPECTED_API}")


def not_counting(url: str) -> NotToxiproxyError:
    """A server that keeps no count of bytes."""
    return NotToxiproxyError(f"{url} does not count the bytes of its proxies; expected it started with {COUNTING}")


_COUNTED = re.compile(
    r'toxiproxy_proxy_(received|sent)_bytes_total\{direction="(\w+)",[^}]*proxy="([^"]*)"[^}]*\} (\S+)'
)


def lost_in(metrics: str, proxy: str, url: str) -> dict[Direction, int]:
    """How many bytes that proxy received and never sent. Raises NotToxiproxyError where nothing is counted; no metrics
    at all are those of a server that has had no connection yet.
    """
    counts: dict[tuple[str, str], int] = {}
    for how, way, name, count in _COUNTED.findall(metrics):
        if name == proxy:
            try:
                counts[how, way] = round(float(count))
            except (ValueError, OverflowError):
                raise not_its_api(url, count) from None
    if not counts and metrics and "toxiproxy_proxy_" not in metrics:
        raise not_counting(url) if "# TYPE " in metrics else not_its_api(url, metrics)
    return {way: counts.get(("received", way), 0) - counts.get(("sent", way), 0) for way in Direction}
