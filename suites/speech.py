"""The protocols in which a subject can be asked, as data: the words of the key `speaks`, and what goes with each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from faults.form import Api
from suites.run import Promise


class Speech(StrEnum):
    """How a subject's callers speak with it."""

    OPENAI = "openai"  # a request, and its answer on the same connection
    TINKER = "tinker"  # a submit that is answered at once, then polls until there is a result


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """What goes with one of them. promises: what a subject may promise there. unasked: what a plan may ask for and no
    caller can ask, with the reason. without: the keys of a subject file that mean nothing there. failures_from: the
    least status of an answer that may claim "not executed".
    """

    promises: tuple[Promise, ...]
    unasked: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    without: tuple[str, ...] = ()
    failures_from: int = 300


PROTOCOLS: Mapping[Speech, Protocol] = {
    Speech.OPENAI: Protocol(promises=(Promise.TRANSPARENT, Promise.ANSWERING)),
    Speech.TINKER: Protocol(
        promises=(Promise.ANSWERING, Promise.FUTURES),
        unasked={
            "streaming": "the Tinker protocol has no streams: a result is polled for, and comes whole",
            "segments": "a submit is answered before it is forwarded: in which segments it came reaches nobody",
        },
        without=("body", "passes_expect"),
        failures_from=200,  # a future that has failed is answered with 200
    ),
}


class Channel(StrEnum):
    """How an operation comes to a subject, whatever protocol it is in: the words of the key `asked`."""

    HTTP = "http"  # it listens, and is called there
    LINES = "json-lines"  # a client, called in its own process by an adapter that is told so on its stdin


NO_SERVER: Mapping[str, str] = MappingProxyType(
    {
        "segments": "a client is called in its own process: no request comes to it on a wire",
        "leaves": "a client is called in its own process, where nobody makes its caller leave",
    }
)
OF_A_SERVER = (
    "ready",
    "ready_says",
    "idle",
    "passes_expect",
    "url",
    "futures",
)  # the keys that mean nothing for a client
TINKER = Speech.TINKER.value
OPENAI_WORDS = {"openai-completions": Api.COMPLETIONS, "openai-chat": Api.CHAT}


def is_speech(value: object) -> bool:
    """A value of the key `speaks`."""
    if value == TINKER:
        return True
    words = value if isinstance(value, list) else [value]
    return bool(words) and all(word in tuple(OPENAI_WORDS) for word in words) and len(words) == len({*map(str, words)})


EXPECTED = f"one of {', '.join(map(repr, OPENAI_WORDS))}, or a list of them, its own first; or {TINKER!r}"


def speech_in(speaks: str | list[str]) -> Speech:
    """The protocol that these words name."""
    return Speech.TINKER if speaks == TINKER else Speech.OPENAI


def apis_in(speaks: str | list[str]) -> tuple[Api, ...]:
    """What a subject with these words asks its routers for."""
    if speaks == TINKER:
        return (Api.COMPLETIONS,)
    return tuple(OPENAI_WORDS[word] for word in ([speaks] if isinstance(speaks, str) else speaks))
