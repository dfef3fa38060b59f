"""A reply as a pure function of act, operation, execution and choices, so that a judge can compute it again.

A result names its operation and its execution in its tokens and in its text; every body that is no result depends on
the fault alone. A reply is a sequence of parts, and stops where its act stops it.
"""

import gzip
from itertools import pairwise

import msgspec

from fake_router.completions import NOBODY, completion, completion_in, spoilt, wrong_completion
from fake_router.forms import STREAM_TYPE, in_form, stream_of
from fake_router.layout import Layout, in_events, layout_of, stream_layout_of
from fake_router.parts import Gap, Held, Padding, Part, bytes_in
from fake_router.reply_heads import around_length, head, head_of
from faults.acts import HEALTHY, AnswerEarly, Fragment, ReplyAct
from faults.answer import Answer, Drip, Hold, Pause, Spaced
from faults.contents import HTML_TYPE, HUGE_BYTES, JSON_TYPE, fixed_content, is_fixed, noise_bytes
from faults.form import COMPLETION, Form
from faults.vocabulary import STREAM_CONTENTS, Coding, Content, Flaw, Surplus

NO_OPERATION = 0  # the number in the result of a request whose prompt carries no operation
NO_STATUS = 0  # of bytes that are no final reply

STRAY = b"0123456789"

_encode = msgspec.json.Encoder().encode
_KEEPING, _CLOSING = (around_length(200, JSON_TYPE, close=close) for close in (False, True))


class Reply(msgspec.Struct, frozen=True, gc=False):
    """What is sent. `of_bytes` is the size of the whole message; it is whole when the kernel has taken so many bytes
    of it and `complete` says that all of it was meant to be sent.
    """

    status: int
    parts: tuple[Part, ...]
    of_bytes: int
    complete: bool = True


def body_of(
    content: Content, operation: int | None, execution: int, choices: int, form: Form = COMPLETION
) -> tuple[str, bytes]:
    """Content type and body, without framing, coding and padding. `execution` is 0 where nothing was executed."""
    if is_fixed(content):
        return fixed_content(content)
    number = NO_OPERATION if operation is None else operation
    if content is Content.UNSTREAMED:
        return JSON_TYPE, _result(Form(api=form.api), number, execution, choices)
    if content in STREAM_CONTENTS:
        return STREAM_TYPE, b"".join(stream_of(content, form.api, number, execution, choices))
    if content not in _RESULTS:  # as a completion, in whatever form it was asked for: it is wrong in any
        return JSON_TYPE, wrong_completion(content, number, execution, choices)
    whose = (NOBODY, 0) if content is Content.FOREIGN else (number, execution)
    type_ = HTML_TYPE if content is Content.WRONG_TYPE else STREAM_TYPE if form.stream else JSON_TYPE
    return type_, spoilt(content, _result(form, *whose, choices))


_RESULTS = frozenset(
    {
        Content.RESULT,
        Content.WRONG_TYPE,
        Content.FOREIGN,
        Content.HUGE,
        Content.BAD_UTF8,
        Content.NUL_TAIL,
        Content.HALF_JSON,
    }
)


def _result(form: Form, operation: int, execution: int, choices: int) -> bytes:
    if form == COMPLETION:
        return completion(operation, execution, choices)
    if not form.is_bare:
        return completion_in(form, operation, execution, choices)
    return in_form(form, operation, execution, choices)


def is_streamed(act: Answer, form: Form) -> bool:
    """It is sent as a stream of events."""
    return form.stream and (act.content in _RESULTS or act.content in _BY_EVENT)


_BY_EVENT = STREAM_CONTENTS - {Content.UNSTREAMED} | {Content.RESULT}


def content_of(act: Answer, operation: int | None, execution: int, choices: int, form: Form = COMPLETION) -> bytes:
    """What a recipient that reads the reply rightly holds when all of it has come: the content that its framing
    delimits, still in its coding. Of a huge one that is all of it, in memory.
    """
    body = _coded(act, body_of(act.content, operation, execution, choices, form)[1])
    if act.content is Content.HUGE:
        return body + b" " * (HUGE_BYTES - len(body))
    return body[: len(body) // 2] if act.flaw is Flaw.LENGTH_SHORT else body


def render(
    act: ReplyAct,
    operation: int | None,
    execution: int,
    choices: int,
    form: Form = COMPLETION,
    *,
    close: bool = False,
) -> Reply:
    """What the act sends to a request of that form. `close`: the request asked for the end of the connection, so a
    whole reply announces it. A stream is chunked: its length is not known when it begins.
    """
    if act is HEALTHY and form is COMPLETION:
        body = completion(NO_OPERATION if operation is None else operation, execution, choices)
        before, after = _CLOSING if close else _KEEPING
        data = b"%b%d%b%b" % (before, len(body), after, body)
        return Reply(200, (data,), len(data))
    if isinstance(act, Fragment):
        data = noise_bytes(act.noise) if act.noise is not None else interim_heads(act.interim)
        return Reply(NO_STATUS, (data,), len(data), complete=False)
    content_type, body = body_of(act.content, operation, execution, choices, form)
    padding = HUGE_BYTES - len(body) if act.content is Content.HUGE else 0
    if form.stream and act.content in _BY_EVENT and in_events(act):
        number = NO_OPERATION if operation is None else operation
        layout = stream_layout_of(act, stream_of(act.content, form.api, number, execution, choices), close=close)
    else:
        streamed = is_streamed(act, form)
        layout = layout_of(act, content_type, _coded(act, body), padding=padding, close=close, streamed=streamed)
    before = interim_heads(act.interim)
    parts = _paced(act, before, layout)
    if padding:
        parts += (Padding(count=padding),)
    if act.surplus is not None:
        parts = _with_surplus(act, act.surplus, parts)
    return Reply(act.status, parts, len(before) + len(layout.data) + padding, complete=not act.incomplete)


def bytes_of(reply: Reply) -> int:
    """How many bytes it sends, whether or not that is all of a message."""
    return bytes_in(reply.parts)


def interim_heads(statuses: tuple[int, ...]) -> bytes:
    """Interim responses: heads without a body (RFC 9110 s15.2)."""
    return b"".join(head_of(status, ()) for status in statuses)


def _coded(act: Answer, body: bytes) -> bytes:
    return gzip.compress(body, mtime=0) if act.coding is Coding.GZIP else body


def _paced(act: Answer, before: bytes, layout: Layout) -> tuple[Part, ...]:
    """The bytes as far as they are sent, with the gaps between them; each part that is bytes is one segment."""
    data = before + (layout.data if act.cut is None else layout.data[: layout.place_of(act.cut)])
    match act.pace:
        case None:
            return (data,)
        case Pause(at=point, length=length):
            place = len(before) + layout.place_of(point)
            return data[:place], Gap(length=length), data[place:]
        case Hold(at=point):
            place = 0 if point is None else len(before) + layout.place_of(point)
            return tuple(part for part in (data[:place], Held(), data[place:]) if part != b"")
        case Spaced(pause=pause):
            places = [len(before) + place for place in layout.events]
            spaced = [data[a:b] for a, b in pairwise((*places[:-1], len(data)))]
            return (data[: places[0]], *(part for piece in spaced for part in (Gap(length=pause), piece)))
        case Drip(pieces=pieces, pause=pause):
            size = 1 if pieces is None else -(-len(data) // pieces)
            dripped = [data[place : place + size] for place in range(0, len(data), size)]
            if not pause:
                return tuple(dripped)
            return tuple(part for piece in dripped for part in (Gap(length=pause), piece))[1:]


def _with_surplus(act: Answer, surplus: Surplus, parts: tuple[Part, ...]) -> tuple[Part, ...]:
    more = STRAY if surplus is Surplus.STRAY else foreign_reply()
    if act.surplus_after is not None:
        return (*parts, Gap(length=act.surplus_after), more)
    *before, last = parts
    return (*before, last + more) if isinstance(last, bytes) else (*parts, more)


def foreign_reply() -> bytes:
    """A whole reply that belongs to nobody."""
    body = completion(NOBODY, 0, 1)
    return head(200, JSON_TYPE, len(body)) + body


def render_early(act: AnswerEarly) -> bytes:
    """The reply to a request of which nobody knows yet whose it is."""
    content_type, body = fixed_content(act.content)
    return head(act.status, content_type, len(body), close=act.ending is not None) + body


def small_json(status: int, value: object, *, close: bool, allow: str = "", body_withheld: bool = False) -> bytes:
    """A reply to what is no exchange: a probe, or a request that this router cannot serve."""
    body = _encode(value)
    extra = (("Allow", allow),) if allow else ()
    return head(status, JSON_TYPE, len(body), close=close, extra=extra) + (b"" if body_withheld else body)
