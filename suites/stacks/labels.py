"""What the labels of a stack's services say: who is the forwarder, who stands behind it, and what is known of it."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from suites.subject_keys import KEYS, OF_A_PROCESS, TABLES

PREFIX = "retryproof."
ROLE, LIKE = "role", "like"
_NOT_OF_A_STACK = frozenset({*OF_A_PROCESS, "url", "listen", "listen_ca", "listen_cert", "listen_names", "version"})
_OF_A_STACK = ("upstreams", "isolation")  # of a process too


class Role(StrEnum):
    """What a service is for the examination; the others are the stack's own affair."""

    FORWARDER = "forwarder"  # the subject: it is called
    ROUTER = "router"  # it stands between the forwarder and what the driver plays; faults of containers strike it


class LabelError(ValueError):
    """Labels that say nothing that can be used; the message quotes them and says what was expected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """What all labels of a stack say together. like: the built-in subject whose keys hold for the forwarder too."""

    roles: Mapping[str, Role]
    like: str = ""
    keys: Mapping[str, Any]

    @property
    def forwarder(self) -> str:
        """The service that is called."""
        return next(name for name, role in self.roles.items() if role is Role.FORWARDER)

    @property
    def router(self) -> str | None:
        """The service that faults of containers strike."""
        return next((name for name, role in self.roles.items() if role is Role.ROUTER), None)


def read_labels(services: Mapping[str, Mapping[str, str]]) -> Labelled:
    """The labels of each service. Raises LabelError."""
    roles: dict[str, Role] = {}
    for name, labels in services.items():
        if (role := labels.get(PREFIX + ROLE)) is None:
            continue
        if role not in tuple(Role):
            raise LabelError(f"{PREFIX}{ROLE} of {name!r} is {role!r}; expected one of {', '.join(Role)}")
        roles[name] = Role(role)
    for role in Role:
        those = [name for name, its in roles.items() if its is role]
        if len(those) > 1 or (role is Role.FORWARDER and not those):
            expected = "one service" if role is Role.FORWARDER else "at most one"
            raise LabelError(f"{PREFIX}{ROLE}: {role} is said of {those!r}; expected it of {expected}")
    forwarder = next(name for name, role in roles.items() if role is Role.FORWARDER)
    own = {key: text for key, text in _ours(services[forwarder]) if key != ROLE}
    return Labelled(roles=roles, like=own.pop(LIKE, ""), keys=_keys_in(own))


def _ours(labels: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    return ((name.removeprefix(PREFIX), text) for name, text in labels.items() if name.startswith(PREFIX))


def _keys_in(labels: Mapping[str, str]) -> dict[str, Any]:
    """Labels as keys of a subject file: a text where the key takes a text, else a value as TOML writes it."""
    data: dict[str, Any] = {}
    for name, text in labels.items():
        key, dot, inner = name.partition(".")
        if key not in KEYS or (key in _NOT_OF_A_STACK and key not in _OF_A_STACK):
            known = ", ".join(one for one in KEYS if one not in _NOT_OF_A_STACK or one in _OF_A_STACK)
            raise LabelError(f"label {PREFIX + name!r}; expected {ROLE}, {LIKE}, or one of {known}")
        if dot and key in TABLES:
            data.setdefault(key, {})[inner] = text if key == "headers" else _toml(text)
        elif dot:
            raise LabelError(f"label {PREFIX + name!r}; expected {PREFIX}{key}, {KEYS[key][1]}")
        elif key == "speaks" and "," in text:
            data[key] = text.split(",")
        else:
            data[key] = text if KEYS[key][0](text) else _toml(text)
    return data


def _toml(text: str) -> Any:
    """What is no value in TOML stays a text, which the key's own check refuses by name."""
    try:
        (value,) = tomllib.loads(f"value = {text}").values()
    except (ValueError, RecursionError):
        return text
    return value
