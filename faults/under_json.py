"""Overlays as plain data: `{"toxic": "latency", "latency_ms": 20, "direction": "downstream"}`. Read strictly."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

from faults.toxics import Bandwidth, Direction, Latency, Slicer
from faults.under import Hop, Overlay, OverlayToxic

OVERLAY_TOXICS: dict[str, type[OverlayToxic]] = {
    "latency": Latency,
    "bandwidth": Bandwidth,
    "slicer": Slicer,
}  # Toxiproxy's names
T = TypeVar("T", Direction, Hop)
_OF_ITS_OWN = frozenset({"direction", "toxicity"})


def toxic_name(toxic: OverlayToxic) -> str:
    """Toxiproxy's name for it."""
    return next(name for name, kind in OVERLAY_TOXICS.items() if isinstance(toxic, kind))


def values_of(name: str) -> tuple[str, ...]:
    """The values that a toxic of that name takes."""
    return tuple(field.name for field in fields(OVERLAY_TOXICS[name]) if field.name not in _OF_ITS_OWN)


def overlay_to_json(overlay: Overlay) -> dict[str, Any]:
    """That overlay as plain data."""
    name = toxic_name(overlay.toxic)
    data: dict[str, Any] = {"toxic": name, "direction": overlay.toxic.direction.value, "hop": overlay.hop.value}
    return data | {value: getattr(overlay.toxic, value) for value in values_of(name)}


def overlay_from_json(data: object) -> Overlay:
    """The overlay in that plain data. Raises ValueError for all that is none, quoting the value."""
    if not isinstance(data, Mapping):
        raise ValueError(f"{data!r} is no toxic; expected an object with `toxic`, one of {', '.join(OVERLAY_TOXICS)}")
    values = dict(data)
    name = values.pop("toxic", None)
    if name not in OVERLAY_TOXICS:
        raise ValueError(f"toxic is {name!r}; expected one of {', '.join(OVERLAY_TOXICS)}")
    direction = _member(Direction, values.pop("direction", Direction.DOWNSTREAM.value), "direction")
    hop = _member(Hop, values.pop("hop", Hop.ROUTER.value), "hop")
    known = values_of(name)
    for key in values:
        if key not in known:
            raise ValueError(f"{name} has the value {key!r}; expected some of {', '.join(known)}")
    try:
        toxic: OverlayToxic = OVERLAY_TOXICS[name](direction=direction, **values)
    except TypeError:
        raise ValueError(f"{name} with {', '.join(values) or 'no value'}; expected {known[0]}") from None
    return Overlay(toxic=toxic, hop=hop)


def _member(kind: type[T], value: object, what: str) -> T:
    for member in kind:
        if member.value == value:
            return member
    raise ValueError(f"{what} is {value!r}; expected {' or '.join(member.value for member in kind)}")
