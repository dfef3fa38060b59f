"""Where a subject that runs already looks for its routers, and who they are for it there under TLS."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fake_router.authority import key_file_of, read_authority
from fake_router.identity import Identity
from faults.plan import MAX_UPSTREAMS
from suites.way import Address

OF_TLS = ("listen_ca", "listen_cert", "listen_names")  # keys that say who its routers are there
_SCHEMES = {"http://": False, "https://": True}

Refuse = Callable[[str, object, str], Exception]  # key, value, what was expected


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """The addresses of its routers, all on one host. tls: it speaks TLS to all of them."""

    addresses: tuple[Address, ...] = ()
    tls: bool = False


def listening_at(texts: Sequence[str]) -> Listening:
    """What a list of HOST:PORT, [IPv6]:PORT, or of either behind https://, says. Raises ValueError."""
    addresses, schemes = [], set()
    for text in texts:
        scheme = next((scheme for scheme in _SCHEMES if text.startswith(scheme)), "")
        schemes.add(_SCHEMES.get(scheme, False))
        addresses.append(_address_in(text.removeprefix(scheme).removesuffix("/" if scheme else "")))
    if len({host for host, _ in addresses}) > 1 or len(set(addresses)) != len(addresses) or len(schemes) > 1:
        raise ValueError(f"{texts!r}; expected different ports of one host, all of them over TLS or none")
    return Listening(addresses=tuple(addresses), tls=True in schemes)


def is_listen(value: object) -> bool:
    """A list of as many addresses as there may be upstreams; whether they go together is not looked at."""
    if not isinstance(value, list) or not 0 < len(value) <= MAX_UPSTREAMS:
        return False
    try:
        return all(isinstance(text, str) and bool(listening_at([text])) for text in value)
    except ValueError:
        return False


def identity_in(data: Mapping[str, Any], here: Path, refuse: Refuse) -> Identity | None:
    """Who its routers are under TLS, as these keys say; None where it speaks none. Raises what `refuse` makes."""
    listening = listening_at(data.get("listen", ()))
    if not listening.tls:
        for key in set(OF_TLS) & data.keys():
            raise refuse(key, data[key], "it only where `listen` says https://: who the router is under TLS")
        return None
    if ("listen_ca" in data) == ("listen_cert" in data):
        raise refuse("listen", data["listen"], "either `listen_ca` or `listen_cert` beside https://")
    host, _ = listening.addresses[0]
    names = (host, *data.get("listen_names", ()))
    return _certified(data, here, names, refuse) if "listen_cert" in data else _under(data, here, names, refuse)


def _under(data: Mapping[str, Any], here: Path, names: tuple[str, ...], refuse: Refuse) -> Identity:
    path = here / data["listen_ca"]
    try:
        identity = Identity(names, ca=read_authority(path))
    except (OSError, ValueError) as error:
        expected = f"a CA as `retryproof ca {data['listen_ca']}` makes it, with its key in {key_file_of(path).name}"
        raise refuse("listen_ca", data["listen_ca"], f"{expected} ({error})") from None
    try:
        identity.context()
    except ValueError as error:
        raise refuse("listen_names", list(names), f"host names and addresses ({error})") from None
    return identity


def _certified(data: Mapping[str, Any], here: Path, names: tuple[str, ...], refuse: Refuse) -> Identity:
    if "listen_names" in data:
        raise refuse("listen_names", data["listen_names"], "it beside `listen_ca` alone: a certificate has its names")
    try:
        identity = Identity(names, certificate=here / data["listen_cert"])
        identity.context()
    except OSError as error:  # SSLError among them
        expected = f"a file in PEM with a certificate, what vouches for it, and its key without a password ({error})"
        raise refuse("listen_cert", data["listen_cert"], expected) from None
    return identity


def _address_in(text: str) -> Address:
    host, colon, port = text.rpartition(":")
    if not (
        colon and "/" not in host and is_host(host) and port.isdecimal() and len(port) < 6 and 0 < int(port) < 65_536
    ):
        raise ValueError(f"{text!r}; expected HOST:PORT")
    return host.removeprefix("[").removesuffix("]"), int(port)


def is_host(name: str) -> bool:
    """A resolver can be asked for it (RFC 1035 s2.3.4: 63 bytes a label)."""
    try:
        return bool(name.encode("idna")) and name.isprintable()
    except UnicodeError:
        return False
