"""A subject as a TOML file: what it is, how it is started, and what its answers mean."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faults.evidence import Contract, Marker
from suites.placeholders import FIXED, PlaceholderError, fill_command, fill_file, meanings
from suites.run import Promise, SubjectFacts
from suites.subject import Isolation, SubjectSpec
from suites.subject_keys import KEYS, NEEDED, is_file_name

BUILT_IN = Path(__file__).with_name("subjects")
_Fill = Callable[[str, Mapping[str, str]], str]


class SubjectFileError(ValueError):
    """A subject file that cannot be used: one message with file, key, value and what was expected (exit code 2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectFile:
    """All that a subject file says. `ready` is "tcp" or the path of an HTTP GET that answers 200.

    not_executed: the answers that claim "not executed". values: placeholders of the file's own. here: its folder.
    """

    spec: SubjectSpec
    command: tuple[str, ...]
    here: Path
    version: tuple[str, ...] = ()
    install: str = ""
    ready: str = "tcp"
    idle: str = ""
    not_executed: tuple[Marker, ...] = ()
    values: Mapping[str, str]
    files: Mapping[str, str]


def load_subject_file(path: Path, variant: str | None = None) -> SubjectFile:
    """The subject in that file, or one variant of it. Raises SubjectFileError for all that is no subject."""
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise SubjectFileError(f"{path}: {error.strerror}; expected a subject file in TOML") from None
    except ValueError as error:  # TOMLDecodeError, UnicodeDecodeError
        raise SubjectFileError(f"{path}: no TOML ({error}); expected a subject file") from None
    return _Reader(path, data, variant).subject()


def variants_in(path: Path) -> list[str]:
    """The names of the variants in that file. Raises SubjectFileError."""
    load_subject_file(path)
    return list(tomllib.loads(path.read_text("utf-8")).get("variants", {}))


def built_in_names() -> list[str]:
    """The subjects that come with the suites, each followed by its variants."""
    names = []
    for path in sorted(BUILT_IN.glob("*.toml")):
        names += [path.stem, *(f"{path.stem}:{variant}" for variant in variants_in(path))]
    return names


def built_in_file(name: str) -> SubjectFile:
    """The built-in subject, or variant of one, of that name. Raises SubjectFileError, naming those that exist."""
    names = built_in_names()
    if name not in names:
        raise SubjectFileError(f"subject {name!r}; expected one of {', '.join(names)}, or the path of a TOML file")
    stem, _, variant = name.partition(":")
    return load_subject_file(BUILT_IN / f"{stem}.toml", variant or None)


class _Reader:
    """One subject file being read; knows its path, for messages."""

    def __init__(self, path: Path, data: dict[str, Any], variant: str | None) -> None:
        self.path = path
        variants = data.pop("variants", {})
        if not isinstance(variants, dict) or not all(isinstance(table, dict) for table in variants.values()):
            raise self.error("variants", variants, "a table of tables, [variants.NAME]")
        for name in variants:
            if variant in (None, name):
                self.check(variants[name], f"variants.{name}.")
        if variant is not None and variant not in variants:
            raise self.error("variants", variant, f"one of {', '.join(variants) or 'none: this file has no variants'}")
        self.check(data, "")
        self.data = data
        if variant is not None:
            data["name"] = f"{data.get('name')}:{variant}"
            for key, value in variants[variant].items():
                data[key] = {**data.get(key, {}), **value} if isinstance(value, dict) else value

    def error(self, key: str, value: object, expected: str) -> SubjectFileError:
        return SubjectFileError(f"{self.path}: {key} is {value!r}; expected {expected}")

    def check(self, table: dict[str, Any], prefix: str) -> None:
        for key, value in table.items():
            if key not in KEYS:
                raise SubjectFileError(f"{self.path}: unknown key {prefix + key!r}; expected some of {', '.join(KEYS)}")
            fits, expected = KEYS[key]
            if not fits(value):
                raise self.error(prefix + key, value, expected)

    def subject(self) -> SubjectFile:
        data = self.data
        for key in NEEDED:
            if key not in data:
                raise SubjectFileError(f"{self.path}: the key {key!r} is missing; expected {KEYS[key][1]}")
        if "quiet_ms" not in data and "idle" not in data:
            raise SubjectFileError(
                f"{self.path}: the key 'quiet_ms' is missing; expected {KEYS['quiet_ms'][1]} (longer than the longest "
                "back-off plus the connect time-out), or `idle`, a path that tells what is in flight"
            )
        for name in data.get("files", {}):
            if not is_file_name(name):
                raise self.error("files", name, "a relative file name that stays inside {dir}")
        for name in data.get("values", {}):
            if name in FIXED or not name.isidentifier():
                raise self.error("values", name, f"a word other than {', '.join(FIXED)}")
        file = SubjectFile(
            spec=self.spec(),
            command=tuple(data["command"]),
            here=self.path.resolve().parent,
            version=tuple(data.get("version", ())),
            install=data.get("install", ""),
            ready=data.get("ready", "tcp"),
            idle=data.get("idle", ""),
            not_executed=self.markers("says", "not_executed"),
            values=data.get("values", {}),
            files=data.get("files", {}),
        )
        self.check_placeholders(file)
        return file

    def spec(self) -> SubjectSpec:
        data = self.data
        reach = {key: why for key, why in data.get("reach", {}).items() if why is not True}
        return SubjectSpec(
            facts=SubjectFacts(
                name=data["name"],
                promises=Promise(data["promises"]),
                contract=Contract(not_accepted=self.markers("contract", "not_accepted")),
                attempts=data.get("attempts", 2),
            ),
            upstreams=data.get("upstreams", 1),
            connect_timeout_ms=data["connect_timeout_ms"],
            read_timeout_ms=data["read_timeout_ms"],
            quiet_ms=None if "idle" in data else data["quiet_ms"],
            isolation=Isolation(data.get("isolation", Isolation.FRESH.value)),
            reach={key: why or f"its subject file says that {key} cannot be reached" for key, why in reach.items()},
            start_ms=data.get("start_ms", 10_000),
        )

    def markers(self, table: str, key: str) -> tuple[Marker, ...]:
        """The answers listed in one table of one key."""
        expected = "a list of { status = 300 to 599, body = text that the answer's body contains }"
        for other, value in self.data.get(table, {}).items():
            if other != key:
                raise self.error(f"{table}.{other}", value, f"only the key {key}")
        listed = self.data.get(table, {}).get(key, [])
        if not isinstance(listed, list):
            raise self.error(f"{table}.{key}", listed, expected)
        markers = []
        for item in listed:
            match item:
                case {"status": int(status), "body": str(body)} if len(item) == 2 and 300 <= status <= 599 and body:
                    markers.append(Marker(status=status, body=body))
                case _:
                    raise self.error(f"{table}.{key}", item, expected)
        return tuple(markers)

    def check_placeholders(self, file: SubjectFile) -> None:
        listen = ("host", 1)
        known = meanings(
            dir_=Path("dir"),
            listen=listen,
            here=file.here,
            upstreams=[listen] * file.spec.upstreams,
            values=file.values,
        )
        for word in file.command:
            self.check_filled("command", fill_command, word, known)
        for word in file.version:
            self.check_filled("version", fill_command, word, known)
        for name, text in file.files.items():
            self.check_filled(f"files.{name}", fill_file, text, known)

    def check_filled(self, key: str, fill: _Fill, text: str, known: Mapping[str, str]) -> None:
        try:
            fill(text, known)
        except PlaceholderError as error:
            raise SubjectFileError(f"{self.path}: {key} has {error}") from None
