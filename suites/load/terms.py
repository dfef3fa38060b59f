"""How a subject is started for a load, as its file says: not with the short time-outs that checks want."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

READ_TIMEOUT = "read_timeout_ms"  # a placeholder, in its options and values
_KEYS = ("options", "values")


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """options: further words of its command; values: what stands in place of its own."""

    options: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict)


def is_terms(value: object) -> bool:
    """A table that a subject file may hold under `load`."""
    if not isinstance(value, dict) or any(key not in _KEYS for key in value):
        return False
    options, values = value.get("options", []), value.get("values", {})
    return (
        isinstance(options, list)
        and all(isinstance(word, str) and word and "\0" not in word for word in options)
        and isinstance(values, dict)
        and all(isinstance(text, str) for text in values.values())
    )


def terms_in(table: Mapping[str, Any]) -> Terms:
    """Those of a table that `is_terms`."""
    return Terms(options=tuple(table.get("options", ())), values=dict(table.get("values", {})))
