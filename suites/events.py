"""A stream as its caller reads it: what has come of it, and whether it looks whole. It judges nothing.

Written apart from the router, which sends streams, and from the reference forwarder, which checks them.
"""

from dataclasses import dataclass, field
from typing import Any

import msgspec

from faults.form import Api

DONE = b"[DONE]"

_decode = msgspec.json.Decoder().decode


@dataclass(frozen=True, slots=True, kw_only=True)
class Streamed:
    """What has come of a stream. events: those whose end has come, `[DONE]` not among them. finished: some choice had
    a finish_reason. error: an event, or all of it, says that it failed. wrong: what no stream may hold. choices:
    tokens and text of each choice.
    """

    events: int = 0
    done: bool = False
    finished: bool = False
    error: bool = False
    wrong: str = ""
    choices: tuple[tuple[tuple[int, ...], str], ...] = ()

    @property
    def complete(self) -> bool:
        """A caller takes it for a whole success, if its framing does not say otherwise."""
        return self.done and self.finished and not self.error and not self.wrong

    @property
    def says(self) -> str:
        """It in a few words, for reports."""
        words = [f"{self.events} event{'' if self.events == 1 else 's'}"]
        words += ["an error event"] if self.error else []
        words += [self.wrong] if self.wrong else []
        words += [DONE.decode()] if self.done else []
        return ", ".join(words)


def streamed_in(body: bytes, api: Api) -> Streamed:
    """What that body is, read as a stream of events."""
    reader = _Reader(api)
    *whole, rest = body.replace(b"\r\n", b"\n").split(b"\n\n")
    for event in whole:
        reader.take(event)
    reader.end(rest.strip())
    return Streamed(
        events=reader.events,
        done=reader.done,
        finished=reader.finished,
        error=reader.error,
        wrong=reader.wrong,
        choices=tuple((tuple(tokens), "".join(texts)) for _, (tokens, texts) in sorted(reader.choices.items())),
    )


@dataclass(slots=True)
class _Reader:
    api: Api
    events: int = 0
    done: bool = False
    finished: bool = False
    error: bool = False
    wrong: str = ""
    choices: dict[int, tuple[list[int], list[str]]] = field(default_factory=dict)

    def take(self, event: bytes) -> None:
        data = b"\n".join(line[5:].removeprefix(b" ") for line in event.split(b"\n") if line.startswith(b"data:"))
        if not data:
            return  # a comment, or other fields alone
        if data == DONE:
            self.done = True
            return
        self.events += 1
        try:
            self._value(_decode(data))
        except (msgspec.MsgspecError, UnicodeDecodeError, ValueError, TypeError, KeyError, AttributeError):
            self.wrong = self.wrong or f"an event that holds no part of an answer ({data[:40]!r})"

    def end(self, rest: bytes) -> None:
        """What has come of an event without an end. An answer that is no stream is nothing else."""
        if not rest:
            return
        if not self.events:
            try:
                value = _decode(rest)
            except (msgspec.MsgspecError, UnicodeDecodeError):
                value = None
            self.error = isinstance(value, dict) and value.get("error") is not None
        self.wrong = self.wrong or f"bytes that are no whole event ({rest[:40]!r})"

    def _value(self, value: Any) -> None:
        if value.get("error") is not None:
            self.error = True
            return
        for choice in value["choices"]:
            tokens, texts = self.choices.setdefault(int(choice.get("index") or 0), ([], []))
            text = choice["delta"].get("content") if self.api is Api.CHAT else choice["text"]
            texts.append(str(text or ""))
            tokens += [int(token) for token in choice.get("token_ids") or ()]
            self.finished = self.finished or choice.get("finish_reason") is not None
