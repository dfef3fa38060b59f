"""The keys of a subject file: what each may hold, and how a message says so."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from faults.catalogue import CATALOGUE
from faults.plan import MAX_UPSTREAMS
from suites.run import Promise
from suites.subject import Isolation

DIMENSIONS = (
    "reused",
    "segments",
    "streaming",
    "http10_upstream",
    "leaves",
)  # what a plan may ask for, apart from faults
SPEAKS = ("openai-completions",)


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_words(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(word, str) and word for word in value)


def _is_texts(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())


def is_file_name(name: str) -> bool:
    """A relative name that stays inside the folder of an instance."""
    return bool(name) and not Path(name).is_absolute() and ".." not in Path(name).parts


def _is_reach(value: object) -> bool:
    return isinstance(value, dict) and all(
        (key in CATALOGUE or key in DIMENSIONS) and isinstance(why, bool | str) and why != ""
        for key, why in value.items()
    )


def _one_of(words: tuple[str, ...]) -> tuple[Callable[[Any], bool], str]:
    return lambda value: value in words, "one of " + ", ".join(repr(word) for word in words)


def _ms_from(least: int) -> tuple[Callable[[Any], bool], str]:
    return lambda value: _is_int(value) and least <= value <= 3_600_000, f"milliseconds, {least} to 3600000"


_COMMAND = (_is_words, "a list of words, at least one")
_TEXT = (lambda value: isinstance(value, str) and value != "", "a text that is not empty")
_TABLE = (lambda value: isinstance(value, dict), "a table")

KEYS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "name": _TEXT,
    "command": _COMMAND,
    "version": _COMMAND,
    "install": _TEXT,
    "upstreams": (lambda value: _is_int(value) and 1 <= value <= MAX_UPSTREAMS, f"a number, 1 to {MAX_UPSTREAMS}"),
    "idle": (lambda value: isinstance(value, str) and value[:1] == "/", 'an HTTP path that answers {"in_flight": N}'),
    "ready": (lambda value: isinstance(value, str) and (value == "tcp" or value[:1] == "/"), '"tcp" or an HTTP path'),
    "speaks": _one_of(SPEAKS),
    "promises": _one_of((Promise.TRANSPARENT.value, Promise.ANSWERING.value)),
    "connect_timeout_ms": _ms_from(1),
    "read_timeout_ms": _ms_from(1),
    "quiet_ms": _ms_from(0),
    "start_ms": _ms_from(1),
    "isolation": _one_of(tuple(member.value for member in Isolation)),
    "attempts": (lambda value: _is_int(value) and 1 <= value <= 100, "a number, 1 to 100"),
    "reach": (
        _is_reach,
        f"a table of fault id or dimension ({', '.join(DIMENSIONS)}) = the reason why it cannot be reached, or false",
    ),
    "says": _TABLE,
    "contract": _TABLE,
    "values": (_is_texts, "a table of name = text"),
    "files": (_is_texts, "a table of file name = text"),
}
NEEDED = ("name", "command", "speaks", "promises", "connect_timeout_ms", "read_timeout_ms")
