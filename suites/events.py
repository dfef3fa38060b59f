"""A stream as its caller reads it: what has come of it, and whether it looks whole. It judges nothing.

Written apart from the router, which sends streams, and from the reference forwarder, which checks them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from faults.form import Api

DONE = b"[DONE]"
BOM = b"\xef\xbb\xbf"  # once, before anything else, it is no part of the stream

_ERROR_TYPE = frozenset({b"event: error", b"event:error"})  # an error by its type, whatever its data are

_decode = msgspec.json.Decoder().decode
# What reading an event raises that is none: of no JSON, of another shape, or nested too deep.
_NO_PART = (msgspec.MsgspecError, ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Streamed:
    """What has come of a stream. events: those whose end has come, `[DONE]` not among them. finished: some choice had
    a finish_reason. error: an event, or all of it, says that it failed. wrong: an event that no stream may hold.
    unfinished: what has come of an event whose end has not. choices: tokens and text of each choice by its index, up
    to an error or to what is wrong: a caller reads no further.
    """

    events: int = 0
    done: bool = False
    finished: bool = False
    error: bool = False
    wrong: str = ""
    unfinished: str = ""
    choices: Mapping[int, tuple[tuple[int, ...], str]] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """A caller takes it for a whole success, if its framing does not say otherwise."""
        return self.done and self.finished and not (self.error or self.wrong or self.unfinished)

    @property
    def says(self) -> str:
        """It in a few words, for reports."""
        words = [f"{self.events} event{'' if self.events == 1 else 's'}"]
        words += ["an error event"] if self.error else []
        words += [self.wrong] if self.wrong else []
        words += [self.unfinished] if self.unfinished else []
        words += [DONE.decode()] if self.done else []
        return ", ".join(words)


def streamed_in(body: bytes, api: Api) -> Streamed:
    """What that body is, read as a stream of events (WHATWG HTML s9.2.5: a line ends with CRLF, LF or CR)."""
    reader = _Reader(api)
    lines = body.removeprefix(BOM).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    *whole, rest = lines.split(b"\n\n")
    for event in whole:
        reader.take(event)
    reader.end(rest.strip())
    return Streamed(
        events=reader.events,
        done=reader.done,
        finished=reader.finished,
        error=reader.error,
        wrong=reader.wrong,
        unfinished=reader.unfinished,
        choices={index: (tuple(tokens), "".join(texts)) for index, (tokens, texts) in reader.choices.items()},
    )


@dataclass(slots=True)
class _Reader:
    api: Api
    events: int = 0
    done: bool = False
    finished: bool = False
    error: bool = False
    wrong: str = ""
    unfinished: str = ""
    choices: dict[int, tuple[list[int], list[str]]] = field(default_factory=dict)

    def take(self, event: bytes) -> None:
        data = b"\n".join(line[5:].removeprefix(b" ") for line in event.split(b"\n") if line.startswith(b"data:"))
        if _ERROR_TYPE.intersection(event.split(b"\n")):
            self.error = True
        if not data:
            return  # a comment, or other fields alone
        if data == DONE:
            self.done = True
            return
        self.events += 1
        if self.error:
            return
        try:
            self._value(_decode(data))
        except _NO_PART:
            self.wrong = self.wrong or f"an event that holds no part of an answer ({data[:40]!r})"

    def end(self, rest: bytes) -> None:
        """What has come of an event without an end. An answer that is no stream is nothing else."""
        if not rest:
            return
        if not self.events:
            try:
                value = _decode(rest)
            except _NO_PART:
                value = None
            self.error = isinstance(value, dict) and value.get("error") is not None
        self.unfinished = f"bytes that are no whole event ({rest[:40]!r})"

    def _value(self, value: Any) -> None:
        self.error = value.get("error") is not None
        if self.error or self.wrong:
            return
        for index, tokens, text, finished in [_part(choice, self.api) for choice in value["choices"]]:
            held = self.choices.setdefault(index, ([], []))
            held[0].extend(tokens)
            held[1].append(text)
            self.finished = self.finished or finished


def _part(choice: Any, api: Api) -> tuple[int, list[int], str, bool]:
    """Index, tokens, text, and whether the choice is finished."""
    text = choice["delta"].get("content") if api is Api.CHAT else choice["text"]
    tokens = [int(token) for token in choice.get("token_ids") or ()]
    return int(choice.get("index") or 0), tokens, str(text or ""), choice.get("finish_reason") is not None
