"""`module:callable`: finding it, and what its module says of it."""

import importlib
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from suites.returned import words
from suites.speech import TINKER
from suites.subject import SubjectError, SubjectSpec
from suites.subject_reader import SubjectFileError, SubjectReader

FACTS, NOT_EXECUTED = "RETRYPROOF", "NOT_EXECUTED"  # what a module, or a callable, may say of itself
SAYABLE = (
    *("promises", "speaks", "upstreams", "connect_timeout_ms", "read_timeout_ms", "quiet_ms", "attempts"),
    *("contract", "reach"),
)
_DEFAULTS = {
    "speaks": "openai-completions",
    "promises": "answering",
    "connect_timeout_ms": 300,
    "read_timeout_ms": 300,
}
EXPECTED = "`async def call(request, urls)`, or a class made with `urls` that has `async def call(self, request)`"
_NO_STREAM = "a call returns once: there is no stream for its caller"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A callable that can be a subject. not_executed: what it raises to claim that nothing was executed."""

    name: str
    target: Callable[..., Any]
    spec: SubjectSpec
    not_executed: tuple[type[BaseException], ...]


def is_callable_path(name: str) -> bool:
    """Meant as a module, dotted or not, and a name in it."""
    module, colon, attribute = name.partition(":")
    return bool(colon) and attribute.isidentifier() and all(part.isidentifier() for part in module.split("."))


def load_callable(name: str) -> Loaded:
    """The callable of that path; its module is imported, also from the working folder.

    Raises SubjectFileError for a path that leads to none, or facts that do not fit, and SubjectError where the import
    fails.
    """
    path, _, attribute = name.partition(":")
    module = _imported(path, name)
    target = getattr(module, attribute, None)
    if target is None:
        near = ", ".join(get_close_matches(attribute, vars(module), n=3))
        hint = f"; nearest: {near}" if near else ""
        raise SubjectFileError(f"subject {name!r}: module {path!r} has no {attribute!r}{hint}; expected {EXPECTED}")
    _check_shape(name, target)
    facts = _said(module, target, FACTS, {})
    if not isinstance(facts, dict) or not all(key in SAYABLE for key in facts):
        raise SubjectFileError(f"{name}: {FACTS} is {facts!r}; expected a dict with some of {', '.join(SAYABLE)}")
    if facts.get("speaks") == TINKER:
        raise SubjectFileError(f"{name}: speaks is {TINKER!r}; expected what a call can be asked in, without polls")
    spec = SubjectReader(name, Path.cwd(), {"name": name, **_DEFAULTS, **facts}).spec()
    called = replace(spec.facts, called=True)
    reach = {"streaming": _NO_STREAM, **spec.reach}
    return Loaded(
        name=name,
        target=target,
        spec=replace(spec, facts=called, reach=reach),
        not_executed=_exceptions(name, _said(module, target, NOT_EXECUTED, ())),
    )


def _imported(path: str, name: str) -> ModuleType:
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        return importlib.import_module(path)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever a module of the user's does while it is imported
        if isinstance(error, ModuleNotFoundError) and error.name and f"{path}.".startswith(f"{error.name}."):
            raise SubjectFileError(
                f"subject {name!r}: there is no module {error.name!r}; expected one that can be imported in "
                f"{str(Path.cwd())!r}"
            ) from None
        raise SubjectError(
            f"subject {name!r}: importing {path} raised {words(error)}; expected a module that loads"
        ) from error


def _check_shape(name: str, target: Any) -> None:
    """It can be called as a subject. Raises SubjectFileError."""
    of_class = inspect.isclass(target)
    call = getattr(target, "call", None) if of_class else target
    if not inspect.isroutine(call) and not isinstance(call, partial):
        call = getattr(call, "__call__", None)  # noqa: B004  # an object that can be called
    if call is None or not inspect.iscoroutinefunction(call):
        raise SubjectFileError(
            f"subject {name!r} is {target!r}, which is not async; expected {EXPECTED} (a client that blocks: "
            "`await asyncio.to_thread(...)` in one)"
        )
    try:
        inspect.signature(call).bind(*((target, {}) if of_class else ({}, [])))
    except TypeError as error:
        raise SubjectFileError(f"subject {name!r} cannot be called so ({error}); expected {EXPECTED}") from None


def _said(module: ModuleType, target: object, key: str, default: object) -> Any:
    """What the callable says of itself, else what its module does."""
    return getattr(target, key, getattr(module, key, default))


def _exceptions(name: str, said: object) -> tuple[type[BaseException], ...]:
    listed = said if isinstance(said, tuple) else (said,)
    if not all(isinstance(one, type) and issubclass(one, BaseException) for one in listed):
        raise SubjectFileError(f"{name}: {NOT_EXECUTED} is {said!r}; expected a tuple of exception classes")
    return listed
