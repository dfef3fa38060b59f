"""What a request asks of the router: work, a look at its health, or nothing that it serves."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import msgspec

from fake_router.content import operation_in
from fake_router.entries import NOT_ANSWERED
from fake_router.replies import MODEL
from fake_router.wire import Request

COMPLETIONS = "/v1/completions"
MAX_CHOICES = 128
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})  # RFC 9110 s9.2.1: they ask for no work

PROBES: Mapping[str, object] = {
    "/": {"status": "ok"},
    "/health": {"status": "ok"},
    "/v1/models": {"object": "list", "data": [{"id": MODEL, "object": "model"}]},
}


@dataclass(slots=True)
class Work:
    """A completion is asked for. `operation` None: the prompt carries none, as plain load tools send it."""

    operation: int | None
    choices: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A look that asks for no work; `answer` is its JSON."""

    status: int
    answer: object


UNSERVED_PROBE = Probe(status=NOT_ANSWERED, answer=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A request that this router does not serve."""

    status: int
    why: str
    allow: str = ""


class _Completion(msgspec.Struct):
    prompt: Any = None
    n: int | None = None
    stream: bool | None = None


_decode = msgspec.json.Decoder(_Completion).decode


def probes_with(paths: Collection[str]) -> Mapping[str, object]:
    """The usual probes, and a look at each of these paths."""
    return {**{path: {"status": "ok"} for path in paths}, **PROBES}


def route(request: Request, probes: Mapping[str, object] = PROBES) -> Work | Probe | Refusal:
    """What this request is."""
    path = request.target if request.target == COMPLETIONS else _path_of(request.target)
    if path == COMPLETIONS:
        if request.method == "POST":
            return work_in(request.body)
        return Refusal(status=405, why=f"{request.method} {COMPLETIONS}; expected POST", allow="POST")
    if path not in probes:
        return Refusal(status=404, why=f"{path!r} is not served; expected {COMPLETIONS} or {', '.join(probes)}")
    if request.method not in ("GET", "HEAD"):
        return Refusal(status=405, why=f"{request.method} {path}; expected GET or HEAD", allow="GET, HEAD")
    return Probe(status=200, answer=probes[path])


def unserved_work(request: Request, probes: Collection[str] = PROBES) -> Work | Probe | None:
    """The work that a request asks for which nobody will serve, or that it is a probe; None where it may be work
    that cannot be known.

    An operation that is sent to a wrong target is one all the same: its content names it.
    """
    if request.method in SAFE_METHODS:
        return UNSERVED_PROBE
    work = work_in(request.body) if request.method == "POST" else None
    if isinstance(work, Work):
        return work
    return UNSERVED_PROBE if _path_of(request.target) in probes else None


def _path_of(target: str) -> str:
    """The path of a target in origin-form or absolute-form (RFC 9112 s3.2); any other form is left as it is."""
    try:
        return urlsplit(target).path or "/"
    except ValueError:
        return target


def work_in(body: bytes) -> Work | Refusal:
    """The work that this body asks for."""
    try:
        asked = _decode(body)
    except (msgspec.MsgspecError, RecursionError) as error:
        return Refusal(status=400, why=f"no completion request ({error}); expected JSON with `prompt`")
    if asked.prompt is None:
        return Refusal(status=400, why="no `prompt`; expected a text or a list of token ids")
    choices = 1 if asked.n is None else asked.n
    if not 1 <= choices <= MAX_CHOICES:
        return Refusal(status=400, why=f"n is {choices!r}; expected 1 to {MAX_CHOICES}")
    if asked.stream:
        return Refusal(status=400, why="stream is true; this router sends completions whole")
    return Work(operation_in(asked.prompt), choices)
