"""What a client saw of one request, in words that depend on no port, time or address."""

import errno
import ssl
from collections.abc import Collection, Iterator, Mapping
from enum import StrEnum

import msgspec

from fake_router.forms import in_form
from fake_router.replies import body_of
from faults.form import Form
from faults.vocabulary import Content
from suites.events import Streamed, streamed_in


class Holds(StrEnum):
    """What the bytes are that a client took for a whole answer."""

    RESULT = "its result"
    PART = "part of its result"
    AS_SENT = "the answer as sent"
    NOTHING = "nothing"
    ANOTHERS = "another's result"
    OTHER = "other bytes"


HANGS = "nothing, for ever"  # in place of an exception's class


class Got(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One request as its client saw it: an answer, or an error.

    status: of the head, where the client let it be seen. holds and body_bytes: of an answer; 0 bytes where
    they are its whole result, or a stream. events: what has come of a stream, in words. error: the exceptions by
    module and class, from the one that was raised to its first cause; HANGS alone where the client had to be stopped.
    reason: the name of the errno among them, or what the client itself calls it.
    """

    status: int = 0  # 0: none was seen
    holds: Holds | None = None
    body_bytes: int = 0
    events: str = ""
    error: tuple[str, ...] = ()
    reason: str = ""

    @property
    def succeeded(self) -> bool:
        """The client raised nothing and gave a 2xx: whoever calls it takes that for a success."""
        return not self.error and 200 <= self.status < 300


def error_chain(error: BaseException) -> tuple[str, ...]:
    """The exception and what it came from, by module and class; neighbours of one class are one."""
    names: list[str] = []
    for link in _links(error):
        name = f"{type(link).__module__}.{type(link).__qualname__}".removeprefix("builtins.")
        if names[-1:] != [name]:
            names.append(name)
    return tuple(names)


def errno_in(error: BaseException) -> str:
    """The name of the first errno on the way to the first cause; empty where there is none."""
    for link in _links(error):
        if isinstance(link, ssl.SSLError) or not isinstance(link, OSError):
            continue  # the numbers of an SSLError are those of OpenSSL
        if link.errno is not None and link.errno in errno.errorcode:
            return errno.errorcode[link.errno]
    return ""


def _links(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)


def holds_of(body: bytes, operation: int, executions: Collection[int], as_sent: bytes) -> Holds:
    """What these bytes are to the caller of that operation, which was executed under these numbers. as_sent: the
    body of an answer that names no operation.
    """
    if not body:
        return Holds.NOTHING
    own = [body_of(Content.RESULT, operation, execution, 1)[1] for execution in executions]
    if body in own:
        return Holds.RESULT
    if any(result.startswith(body) for result in own):
        return Holds.PART
    if body == as_sent:
        return Holds.AS_SENT
    if body.startswith(b'{"id":"cmpl-') and not body.startswith(b'{"id":"cmpl-%d-' % operation):
        return Holds.ANOTHERS
    return Holds.OTHER


def holds_of_stream(body: bytes, form: Form, operation: int, executions: Collection[int]) -> Holds:
    """The same of a stream: its result is whole when all of its events and [DONE] have come."""
    came = streamed_in(body, form.api)
    own = [streamed_in(in_form(form, operation, execution, 1), form.api).choices for execution in executions]
    if not came.choices:
        return Holds.NOTHING if not body else Holds.OTHER
    if came.choices in own:
        return Holds.RESULT if came.complete else Holds.PART
    return Holds.PART if any(_begins(came, choices) for choices in own) else Holds.OTHER


def events_in(body: bytes, form: Form) -> str:
    """What has come of a stream, in a few words that depend on no number."""
    came = streamed_in(body, form.api)
    words = [f"{came.events} event{'' if came.events == 1 else 's'}"]
    words += ["one of them an error"] if came.error else []
    words += ["bytes that are no event"] if came.wrong or came.unfinished else []
    words += ["[DONE]"] if came.done else []
    return ", ".join(words)


def _begins(came: Streamed, own: Mapping[int, tuple[tuple[int, ...], str]]) -> bool:
    """Of each choice the first tokens."""
    return all(own.get(index, ((), ""))[0][: len(tokens)] == tokens for index, (tokens, _) in came.choices.items())
