"""Plans as JSON: written in one stable form, read strictly. Every refusal names the place and the value."""

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeVar

from faults.families import UnknownFaultError
from faults.plan import SCHEMA, Plan, PlanError, PlannedListener, PlannedOperation
from faults.under import Overlay
from faults.under_json import overlay_from_json, overlay_to_json
from faults.vocabulary import Leaving

T = TypeVar("T")

_TYPES: dict[str, tuple[type | tuple[type, ...], str]] = {
    "faults": (list, "a list of fault ids"),
    "reused": (bool, "true or false"),
    "segments": (int, "1, 2, or 0 for each byte"),
    "body_bytes": (int, "a number of bytes from 0"),
    "expect": (bool, "true or false"),
    "wave": (int, "a number from 0"),
    "api": (str, "completions or chat"),
    "stream": (bool, "true or false"),
    "gate": ((str, type(None)), "the name of a gate, or null"),
    "leaves": ((str, type(None)), "null, or one of " + ", ".join(Leaving)),
    "fault": (str, "a fault id"),
    "upstream": ((int, type(None)), "the index of an upstream, or null for all"),
    "connections": ((int, type(None)), "a number of connections, or null for all"),
    "operations": (list, "a list of operations"),
    "listeners": (list, "a list of listeners"),
    "upstreams": (int, "a number of upstreams"),
    "tls": (bool, "true or false"),
    "under": (list, "a list of toxics"),
    "name": (str, "a name"),
    "schema": (int, f"the number {SCHEMA}"),
}


def plan_to_json(plan: Plan) -> dict[str, Any]:
    """The plan as plain data; what has its default value is left out, except the schema."""
    data: dict[str, Any] = {"schema": plan.schema}
    data.update(_changed(plan, skip=("operations", "listeners", "under", "schema")))
    data["operations"] = [_changed(operation) for operation in plan.operations]
    if plan.under:
        data["under"] = [overlay_to_json(overlay) for overlay in plan.under]
    if plan.listeners:
        data["listeners"] = [_changed(listener) for listener in plan.listeners]
    return data


def dump_plan(plan: Plan) -> str:
    """The plan as JSON text, ending in a newline."""
    return json.dumps(plan_to_json(plan), indent=2) + "\n"


def load_plan(text: str | bytes) -> Plan:
    """The plan in that JSON text. Raises PlanError for all that is no plan of this schema."""
    try:
        data = json.loads(text, object_pairs_hook=each_key_once)
    except PlanError:
        raise
    except ValueError as error:
        raise PlanError(f"the plan is no JSON ({error}); expected an object with `schema` and `operations`") from None
    return plan_from_json(data)


def each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys are all different: of two, a reader may see the one that does not count."""
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = next(key for key, _ in pairs if [other for other, _ in pairs].count(key) > 1)
        raise PlanError(f"the key {twice!r} stands twice in one object; expected it once")
    return found


def plan_from_json(data: object) -> Plan:
    """The plan in that plain data. Raises PlanError for all that is no plan of this schema."""
    values = _checked(Plan, data, "plan")
    if "schema" not in values:
        raise PlanError(f"plan without `schema`; expected {SCHEMA}")
    for key, kind in (("operations", PlannedOperation), ("listeners", PlannedListener)):
        items = values.get(key, [])
        values[key] = tuple(_build(kind, item, f"{key}[{n}]") for n, item in enumerate(items))
    values["under"] = tuple(_overlay(item, f"under[{n}]") for n, item in enumerate(values.get("under", [])))
    return _made(Plan, values, "plan")


def _overlay(data: object, where: str) -> Overlay:
    try:
        return overlay_from_json(data)
    except ValueError as error:
        raise PlanError(f"{where}: {error}") from None


def _build(kind: type[T], data: object, where: str) -> T:
    values = _checked(kind, data, where)
    if "faults" in values:
        ids = values["faults"]
        for id_ in ids:
            if not isinstance(id_, str):
                raise PlanError(f"{where}.faults holds {id_!r}; expected fault ids")
        values["faults"] = tuple(ids)
    if values.get("leaves") is not None:
        try:
            values["leaves"] = Leaving(values["leaves"])
        except ValueError:
            raise PlanError(f"{where}.leaves is {values['leaves']!r}; expected {_TYPES['leaves'][1]}") from None
    return _made(kind, values, where)


def _made(kind: type[T], values: dict[str, Any], where: str) -> T:
    try:
        return kind(**values)
    except (PlanError, UnknownFaultError) as error:
        raise PlanError(f"{where}: {error}") from None


def _checked(kind: type, data: object, where: str) -> dict[str, Any]:
    if not isinstance(data, Mapping):
        raise PlanError(f"{where} is {data!r}; expected an object")
    known = {field.name: field for field in fields(kind)}
    for key, value in data.items():
        if key not in known:
            raise PlanError(f"{where} has the key {key!r}; expected some of {', '.join(known)}")
        types, expected = _TYPES[key]
        if not isinstance(value, types) or (isinstance(value, bool) and types is not bool):
            raise PlanError(f"{where}.{key} is {value!r}; expected {expected}")
    for name, field in known.items():
        if field.default is MISSING and field.default_factory is MISSING and name not in data:
            raise PlanError(f"{where} lacks `{name}`; expected {_TYPES[name][1]}")
    return dict(data)


def _changed(item: Any, skip: tuple[str, ...] = ()) -> dict[str, Any]:
    changed = {}
    for field in fields(item):
        value = getattr(item, field.name)
        if field.name in skip or value == field.default:
            continue
        changed[field.name] = list(value) if isinstance(value, tuple) else value
    return changed
