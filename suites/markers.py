"""The answers that a subject's keys list, such as those that claim "not executed"."""

from collections.abc import Callable, Mapping
from typing import Any

from faults.evidence import Marker

Refuse = Callable[[str, object, str], Exception]  # key, value, what was expected


def markers_in(
    data: Mapping[str, Any], table: str, key: str, refuse: Refuse, *, least: int = 300
) -> tuple[Marker, ...]:
    """Those under that key of that table; least: the least status that one may have. Raises what `refuse` makes."""
    expected = f"a list of {{ status = {least} to 599, body = text that the answer's body contains }}"
    for other, value in data.get(table, {}).items():
        if other != key:
            raise refuse(f"{table}.{other}", value, f"only the key {key}")
    listed = data.get(table, {}).get(key, [])
    if not isinstance(listed, list):
        raise refuse(f"{table}.{key}", listed, expected)
    markers = []
    for item in listed:
        match item:
            case {"status": int(status), "body": str(body)} if len(item) == 2 and least <= status <= 599 and body:
                markers.append(Marker(status=status, body=body))
            case _:
                raise refuse(f"{table}.{key}", item, expected)
    return tuple(markers)
