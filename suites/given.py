"""What a command line says of a subject that is a URL: the keys of a subject file, as options."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from suites.subject_keys import KEYS, OF_A_PROCESS, TABLES, is_url
from suites.subject_reader import SubjectFileError, SubjectReader
from suites.subject_text import SubjectFile

DEFAULTS: dict[str, int] = {"connect_timeout_ms": 300, "read_timeout_ms": 300, "quiet_ms": 1_000}
_OF_OPTIONS = {"url": "the URL itself", "listen": "--listen", "speaks": "--speaks", "promises": "--promises"}
_SETTABLE = tuple(key for key in KEYS if key not in _OF_OPTIONS and key not in OF_A_PROCESS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Options that belong to a URL. settings: KEY=VALUE each, with the keys of a subject file."""

    listen: tuple[str, ...] = ()
    speaks: str | None = None
    promises: str | None = None
    settings: tuple[str, ...] = ()

    def words(self) -> list[str]:
        """The same as arguments of a command."""
        words = [word for address in self.listen for word in ("--listen", address)]
        words += ["--speaks", self.speaks] if self.speaks is not None else []
        words += ["--promises", self.promises] if self.promises is not None else []
        return words + [word for setting in self.settings for word in ("--set", setting)]


NOTHING_GIVEN = Given()


def is_a_url(name: str) -> bool:
    """Meant as a URL, whether or not it is one."""
    return "://" in name


def refuse_bare_url(name: str) -> None:
    """Where there are no options about a URL. Raises SubjectFileError."""
    if is_a_url(name):
        raise SubjectFileError(
            f"subject {name!r}: a URL needs --listen and more, which cannot be said here; expected a TOML file with "
            "`url` and `listen` in it (docs/subjects.md)"
        )


def url_subject(url: str, given: Given) -> SubjectFile:
    """The subject at that URL. Raises SubjectFileError for what is missing or does not fit, in words of the options."""
    if not is_url(url):
        raise SubjectFileError(f"subject {url!r}; expected {KEYS['url'][1]}")
    data: dict[str, Any] = {"name": url, "url": url, "listen": list(given.listen), **DEFAULTS}
    for option, value, example in (
        ("listen", given.listen, "127.0.0.1:9000"),
        ("speaks", given.speaks, "openai-completions"),
        ("promises", given.promises, "transparent"),
    ):
        if not value:
            raise SubjectFileError(
                f"{url}: --{option} is missing; expected {KEYS[option][1]}, e.g. --{option} {example}"
                + (" (again for a second upstream)" if option == "listen" else "")
            )
    speaks = given.speaks or ""
    data.update(speaks=speaks.split(",") if "," in speaks else speaks, promises=given.promises)
    _refuse_twice(url, given.settings)
    for setting in given.settings:
        _set(data, url, setting)
    if "idle" in data:
        del data["quiet_ms"]
    return SubjectReader(url, Path.cwd(), data).subject()


def assumed(given: Given) -> str:
    """Which of the defaults stand for what nobody has said, as --set would say it; empty for none."""
    named = {setting.partition("=")[0] for setting in given.settings}
    missing = [key for key in DEFAULTS if key not in named and not (key == "quiet_ms" and "idle" in named)]
    return " ".join(f"{key}={DEFAULTS[key]}" for key in missing)


def _set(data: dict[str, Any], url: str, setting: str) -> None:
    """One KEY=VALUE, or TABLE.KEY=VALUE: a text where the key takes a text, else a value as TOML writes it."""
    name, equals, text = setting.partition("=")
    key, dot, inner = name.partition(".")
    if key in _OF_OPTIONS:
        raise SubjectFileError(f"{url}: --set {setting!r}; expected {_OF_OPTIONS[key]} instead")
    if key not in _SETTABLE:
        near = get_close_matches(key, _SETTABLE, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        why = f"there is no key {key!r}" if key not in KEYS else f"{key!r} is of a subject that we start"
        raise SubjectFileError(f"{url}: --set {setting!r}: {why}; expected one of {', '.join(_SETTABLE)}{hint}")
    if not equals or (dot and not (inner and key in TABLES)):
        form = f"{key}.NAME=VALUE" if key in TABLES else f"{key}=VALUE"
        raise SubjectFileError(f"{url}: --set {setting!r}; expected {form}, {KEYS[key][1]}")
    fits = KEYS[key][0]
    if dot:
        table = data.setdefault(key, {})
        if not isinstance(table, dict):
            raise SubjectFileError(f"{url}: --set {setting!r} beside {key}={table!r}; expected one of them")
        table[inner] = text if key == "headers" else _toml(text)
    elif key == "probes" and text[:1] == "/":
        data[key] = text.split(",")
    else:
        data[key] = text if fits(text) else _toml(text)


def _refuse_twice(url: str, settings: Sequence[str]) -> None:
    """Of two values for one key only the last would count, and nobody would notice. Raises SubjectFileError."""
    names = [setting.partition("=")[0] for setting in settings]
    for name, setting in zip(names, settings, strict=True):
        if names.count(name) > 1:
            raise SubjectFileError(f"{url}: --set {setting!r}, and {name!r} once more; expected each key once")


def _toml(text: str) -> Any:
    """A value as TOML writes it; what is none stays a text, which the key's own check refuses by name."""
    try:
        (value,) = tomllib.loads(f"value = {text}").values()
    except (ValueError, RecursionError):
        return text
    return value
