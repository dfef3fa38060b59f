"""The form in which an operation is asked for: one of two APIs, whole or as a stream of events."""

from dataclasses import dataclass, field
from enum import StrEnum


class Api(StrEnum):
    """The path on which it is asked for, and with it the shape of request and answer."""

    COMPLETIONS = "completions"
    CHAT = "chat"

    @property
    def path(self) -> str:
        """Where a router serves it."""
        return "/v1/chat/completions" if self is Api.CHAT else "/v1/completions"


@dataclass(frozen=True, slots=True)
class Form:
    """What the answer must look like."""

    api: Api = Api.COMPLETIONS
    stream: bool = False
    word: str = field(init=False, repr=False, compare=False)  # of the API, at hand for every exchange

    def __post_init__(self) -> None:
        object.__setattr__(self, "word", self.api.value)


COMPLETION = Form()
STREAM = Form(stream=True)
