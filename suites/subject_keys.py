"""The keys of a subject file: what each may hold, and how a message says so."""

import re
from collections.abc import Callable
from math import isfinite
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from faults.catalogue import FAMILIES, is_fault
from faults.plan import MAX_UPSTREAMS
from suites.futures.offer import is_offer
from suites.listening import is_host, is_listen
from suites.load.terms import is_terms
from suites.run import Promise
from suites.speech import EXPECTED as SPEECH
from suites.speech import Channel, is_speech
from suites.subject import Isolation

DIMENSIONS = (
    "reused",
    "segments",
    "body_bytes",
    "streaming",
    "http10_upstream",
    "leaves",
    "tls",
    "names",
    "pool",
)  # what a plan may ask for, apart from faults
_FAMILY_NAMES = frozenset(family.name for family in FAMILIES)
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110 s5.6.2


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_words(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_word, value))


def _is_word(value: object) -> bool:
    """What a program can be given as an argument, and a file as a name: no system call takes a NUL."""
    return isinstance(value, str) and value != "" and "\0" not in value


def _is_texts(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())


def is_file_name(name: str) -> bool:
    """A relative name that stays inside the folder of an instance."""
    return _is_word(name) and Path(name).name != "" and not Path(name).is_absolute() and ".." not in Path(name).parts


def _is_reach(value: object) -> bool:
    return isinstance(value, dict) and all(
        (key in DIMENSIONS or key in _FAMILY_NAMES or is_fault(key)) and isinstance(why, bool | str) and why != ""
        for key, why in value.items()
    )


def is_url(value: object) -> bool:
    """An absolute http or https URL, without user, password or fragment."""
    try:
        parts = urlsplit(value) if isinstance(value, str) and value.isascii() and value.isprintable() else None
        return bool(
            parts
            and parts.scheme in ("http", "https")
            and parts.hostname
            and is_host(parts.hostname)
            and (parts.port is None or parts.port > 0)
            and "@" not in parts.netloc
            and " " not in parts.geturl()
            and not parts.fragment
        )
    except ValueError:
        return False


def _is_headers(value: object) -> bool:
    return isinstance(value, dict) and all(
        _TOKEN.fullmatch(name) and isinstance(text, str) and text.isprintable() and text.isascii()
        for name, text in value.items()
    )


def _is_target(value: object) -> bool:
    """What a request can ask for (RFC 9112 s3.2.1)."""
    return isinstance(value, str) and value[:1] == "/" and value.isascii() and value.isprintable() and " " not in value


def _is_probes(value: object) -> bool:
    """Paths, as they are or with what the router answers there: what JSON can say, and TOML says beside times."""
    return isinstance(value, list | dict) and all(map(_is_target, value)) and _is_json(value)


def _is_json(value: object) -> bool:
    match value:
        case dict():
            return all(map(_is_json, value.values()))
        case list():
            return all(map(_is_json, value))
        case float():
            return isfinite(value)
    return isinstance(value, str) or (isinstance(value, int) and value.bit_length() < 64)


def _one_of(words: tuple[str, ...]) -> tuple[Callable[[Any], bool], str]:
    return lambda value: value in words, "one of " + ", ".join(repr(word) for word in words)


def _ms_from(least: int) -> tuple[Callable[[Any], bool], str]:
    return lambda value: _is_int(value) and least <= value <= 3_600_000, f"milliseconds, {least} to 3600000"


_COMMAND = (_is_words, "a list of words, at least one")
_TEXT = (lambda value: isinstance(value, str) and value != "", "a text that is not empty")
_PATH = (_is_word, "the path of a file")
_LINE = (lambda value: isinstance(value, str) and value.isprintable() and value != "", "a printable text on one line")
_TABLE = (lambda value: isinstance(value, dict), "a table")

KEYS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "name": _LINE,
    "command": _COMMAND,
    "url": (is_url, "http://HOST:PORT or https://HOST:PORT, with or without a path"),
    "listen": (
        is_listen,
        f"a list of HOST:PORT, at most {MAX_UPSTREAMS}: where it was told to find its router; https://HOST:PORT where "
        "it speaks TLS to it",
    ),
    "listen_ca": _PATH,
    "listen_cert": _PATH,
    "listen_names": (_is_words, "a list of names and addresses by which it calls its router"),
    "version": _COMMAND,
    "install": _LINE,
    "needs": (_is_words, "a list of paths, at least one; each may have * in it"),
    "upstreams": (lambda value: _is_int(value) and 1 <= value <= MAX_UPSTREAMS, f"a number, 1 to {MAX_UPSTREAMS}"),
    "idle": (_is_target, 'an HTTP path that answers {"in_flight": N}'),
    "ready": (lambda value: value == "tcp" or _is_target(value), '"tcp" or an HTTP path'),
    "ready_says": _TEXT,
    "speaks": (is_speech, SPEECH),
    "asked": _one_of(tuple(member.value for member in Channel)),
    "headers": (_is_headers, "a table of header name = text (RFC 9110 s5.1)"),
    "body": _TEXT,
    "ca_file": _PATH,
    "probes": (_is_probes, "a list of paths that its health checks ask for, or a table of path = the answer, as JSON"),
    "promises": _one_of(tuple(member.value for member in Promise)),
    "connect_timeout_ms": _ms_from(1),
    "read_timeout_ms": _ms_from(1),
    "quiet_ms": _ms_from(0),
    "call_ms": _ms_from(1),
    "start_ms": _ms_from(1),
    "passes_expect": (lambda value: isinstance(value, bool), "true or false"),
    "rewrites": (lambda value: isinstance(value, bool), "true or false"),
    "isolation": _one_of(tuple(member.value for member in Isolation)),
    "attempts": (lambda value: _is_int(value) and 1 <= value <= 100, "a number, 1 to 100"),
    "reach": (
        _is_reach,
        f"a table of fault id or dimension ({', '.join(DIMENSIONS)}) = the reason why it cannot be reached, or false",
    ),
    "futures": (
        is_offer,
        "a table: options, a list of words with {store}, {clock_ms} and {max_bytes}, and hold_ms, retrieved_ms, "
        "undelivered_ms, session_ms in milliseconds",
    ),
    "load": (is_terms, "a table: options, a list of words, and replace, a table of text = text in place of it"),
    "says": _TABLE,
    "contract": _TABLE,
    "values": (_is_texts, "a table of name = text"),
    "tls": (_is_texts, "a table of name = text, the names from [values]"),
    "names": (_is_texts, "a table of name = text, the names from [values]"),
    "files": (_is_texts, "a table of file name = text"),
}
OF_A_PROCESS = (
    "command",
    "install",
    "needs",
    "ready_says",
    "asked",
    "upstreams",
    "isolation",
    "load",
    "values",
    "tls",
    "names",
    "files",
)  # what a `url` cannot have
TABLES = ("headers", "reach", "says", "contract")  # whose entries can be said one by one
NEEDED = ("name", "speaks", "promises", "connect_timeout_ms", "read_timeout_ms")
