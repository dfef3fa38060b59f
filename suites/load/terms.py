"""How a subject is started for a load, as its file says: not with the short time-outs that checks want."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

READ_TIMEOUT = "read_timeout_ms"  # a placeholder, in its options and files
_KEYS = ("options", "replace")
KEY = "load"


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """options: further words of its command; replace: what stands in its files and values in place of what."""

    options: tuple[str, ...] = ()
    replace: Mapping[str, str] = field(default_factory=dict)

    def replaced(self, *tables: Mapping[str, str]) -> list[dict[str, str]]:
        """These texts, as a load wants them. Raises ValueError for one that is a part of none of them."""
        found = [dict(table) for table in tables]
        for text, instead in self.replace.items():
            if not any(text in each for table in found for each in table.values()):
                raise ValueError(f"load.replace has {text!r}; expected a part of its files or values")
            found = [{name: each.replace(text, instead) for name, each in table.items()} for table in found]
        return found


NO_TERMS = Terms()


def is_terms(value: object) -> bool:
    """A table that a subject file may hold under KEY."""
    if not isinstance(value, dict) or any(key not in _KEYS for key in value):
        return False
    options, replace = value.get("options", []), value.get("replace", {})
    return (
        isinstance(options, list)
        and all(isinstance(word, str) and word and "\0" not in word for word in options)
        and isinstance(replace, dict)
        and all(text and isinstance(instead, str) for text, instead in replace.items())
    )


def terms_in(table: Mapping[str, Any]) -> Terms:
    """Those of a table that `is_terms`."""
    return Terms(options=tuple(table.get("options", ())), replace=dict(table.get("replace", {})))
