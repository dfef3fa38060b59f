"""What a request asks of the router: work, a look at its health, or nothing that it serves."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlsplit

import msgspec

from fake_router.content import MAX_NUMBER, RESULT_TOKENS, operation_in, operation_in_messages
from fake_router.digest import digest_of_content
from fake_router.entries import NOT_ANSWERED
from fake_router.forms import MODEL
from fake_router.layout import MOVED
from fake_router.wire import Request
from faults.form import COMPLETION, AboutPrompt, Api, Form, form_of

APIS: Mapping[str, Api] = {api.path: api for api in Api}
_CHAT = Api.CHAT
_WHOLE: Mapping[Api, Form] = {api: form_of(api, False) for api in Api}
MAX_CHOICES = 128
MAX_LIKELIEST = 1024
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})  # RFC 9110 s9.2.1: they ask for no work

OK: Mapping[str, str] = {"status": "ok"}
PROBES: Mapping[str, object] = {
    "/": OK,
    "/health": OK,
    MOVED: {"status": "moved"},  # a redirect that was followed by GET; by POST it is work
    "/v1/models": {"object": "list", "data": [{"id": MODEL, "object": "model"}]},
}


class Work(msgspec.Struct, gc=False):
    """A completion is asked for. `operation` None: the content carries none, as plain load tools send it."""

    operation: int | None
    choices: int
    form: Form
    content_digest: int | None = None  # None where it carries no operation


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


_NO_STREAM = Refusal(
    status=400, why="a stream for HTTP/1.0; expected HTTP/1.1: a stream is chunked (RFC 9112 s6.1), or stream false"
)


class _Asked(msgspec.Struct):
    prompt: Any = None
    messages: Any = None
    n: int | None = None
    max_tokens: int | None = None
    stream: bool | None = None
    prompt_logprobs: int | None = None


_decode = msgspec.json.Decoder(_Asked).decode


def probes_with(paths: Collection[str]) -> Mapping[str, object]:
    """The usual probes, and a look at each of these paths; where it is told what to answer there, with that instead."""
    if isinstance(paths, Mapping):
        return {**PROBES, **paths}
    return {**dict.fromkeys(paths, OK), **PROBES}


def route(request: Request, probes: Mapping[str, object] = PROBES) -> Work | Probe | Refusal:
    """What this request is."""
    path = request.target
    if (api := APIS.get(path)) is None:
        path = _path_of(path)
        api = APIS.get(path)
    if api is not None:
        if request.method == "POST":
            work = work_in(request.body, api)
            return _NO_STREAM if request.http10 and isinstance(work, Work) and work.form.stream else work
        return Refusal(status=405, why=f"{request.method} {path}; expected POST", allow="POST")
    if path == MOVED and request.method == "POST":
        return _moved_work(request)
    if path not in probes:
        return Refusal(status=404, why=f"{path!r} is not served; expected {', '.join((*APIS, *probes))}")
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
    if request.method == "POST":
        for api in Api:
            work = work_in(request.body, api)
            if isinstance(work, Work):
                return work
    return UNSERVED_PROBE if _path_of(request.target) in probes else None


def _path_of(target: str) -> str:
    """The path of a target in origin-form or absolute-form (RFC 9112 s3.2); any other form is left as it is."""
    try:
        return urlsplit(target).path or "/"
    except ValueError:
        return target


def _moved_work(request: Request) -> Work | Refusal:
    """What was sent to where a redirect points: its content says in which form it asks."""
    work = work_in(request.body, Api.COMPLETIONS)
    return work if isinstance(work, Work) else work_in(request.body, Api.CHAT)


def work_in(body: bytes, api: Api = Api.COMPLETIONS) -> Work | Refusal:
    """The work that this body asks for."""
    try:
        asked = _decode(body)
    except (msgspec.MsgspecError, RecursionError) as error:
        return Refusal(status=400, why=f"no completion request ({error}); expected JSON with {_CONTENT[api]}")
    content = asked.messages if api is _CHAT else asked.prompt
    if content is None:
        return Refusal(status=400, why=f"expected {_CONTENT[api]}")
    choices = 1 if asked.n is None else asked.n
    if not 1 <= choices <= MAX_CHOICES:
        return Refusal(status=400, why=f"n is {choices!r}; expected 1 to {MAX_CHOICES}")
    operation = operation_in_messages(content) if api is _CHAT else operation_in(content)
    form = form_of(api, True) if asked.stream else _WHOLE[api]
    most = asked.max_tokens
    if form is COMPLETION and (asked.prompt_logprobs is not None or (most is not None and most < RESULT_TOKENS)):
        more = _form_with_more(asked)
        if isinstance(more, Refusal):
            return more
        form = more
    return Work(operation, choices, form, None if operation is None else digest_of_content(content))


def _form_with_more(asked: _Asked) -> Form | Refusal:
    """Of a whole completion: no more tokens than were asked for, and what was asked of its prompt."""
    most, likeliest = asked.max_tokens, asked.prompt_logprobs
    if most is not None and most < 0:
        return Refusal(status=400, why=f"max_tokens is {most!r}; expected 0 or more")
    about = None if likeliest is None else _about_prompt(asked.prompt, likeliest)
    if isinstance(about, Refusal):
        return about
    return Form(about_prompt=about, most_tokens=most if most is not None and most < RESULT_TOKENS else None)


def _about_prompt(prompt: object, likeliest: int) -> AboutPrompt | Refusal:
    try:
        tokens = msgspec.convert(prompt, tuple[_TokenId, ...])
    except msgspec.ValidationError as error:
        return Refusal(status=400, why=f"prompt_logprobs of a prompt that is no list of token ids ({error})")
    if not 0 <= likeliest <= MAX_LIKELIEST or not tokens:
        why = (
            f"prompt_logprobs is {likeliest!r} for {len(tokens)} tokens; expected 0 to {MAX_LIKELIEST}, for one or more"
        )
        return Refusal(status=400, why=why)
    return AboutPrompt(likeliest=likeliest, tokens=tokens)


_TokenId = Annotated[int, msgspec.Meta(ge=0, le=MAX_NUMBER)]
_CONTENT = {Api.COMPLETIONS: "`prompt`, a text or a list of token ids", Api.CHAT: "`messages`, a list"}
