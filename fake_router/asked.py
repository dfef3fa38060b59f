"""The JSON body of a call of the control API, read strictly."""

import json
from typing import Any

from faults.plan import PlanError
from faults.plan_json import each_key_once

_KINDS = {int: "a number", dict: "an object"}


def fields_in(body: bytes, *choices: dict[str, type]) -> dict[str, Any]:
    """The object in that body, with exactly the keys of one of these choices. Raises ValueError."""
    expected = "; or ".join("an object with " + ", ".join(f"`{name}`" for name in choice) for choice in choices)
    try:
        data = json.loads(body, object_pairs_hook=each_key_once)
    except PlanError:
        raise
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the body is no JSON ({error}); expected {expected}") from None
    keys = data.keys() if isinstance(data, dict) else None
    choice = next((choice for choice in choices if choice.keys() == keys), None)
    if choice is None:
        raise ValueError(f"the body has {data if keys is None else sorted(keys)!r}; expected {expected}")
    for name, kind in choice.items():
        value = data[name]
        if not isinstance(value, kind) or isinstance(value, bool):
            raise ValueError(f"{name} is {value!r}; expected {_KINDS[kind]}")
    return dict(data)
