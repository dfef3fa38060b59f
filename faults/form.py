"""The form in which an operation is asked for: one of two APIs, whole or as a stream of events."""

from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache


class Api(StrEnum):
    """The path on which it is asked for, and with it the shape of request and answer."""

    COMPLETIONS = "completions"
    CHAT = "chat"

    @property
    def path(self) -> str:
        """Where a router serves it."""
        return "/v1/chat/completions" if self is Api.CHAT else "/v1/completions"


@dataclass(frozen=True, slots=True)
class AboutPrompt:
    """The logprobs of these tokens of a prompt, and of the `likeliest` ones in the place of each, are asked for too."""

    likeliest: int
    tokens: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Form:
    """What the answer must look like. most_tokens: it is cut there; None: nothing is cut.

    Raises ValueError for a prompt's logprobs, or a cut, in any form but a whole completion.
    """

    api: Api = Api.COMPLETIONS
    stream: bool = False
    about_prompt: AboutPrompt | None = None
    most_tokens: int | None = None
    # At hand for every exchange: the word of its API, and whether nothing more than API and stream is said.
    word: str = field(init=False, repr=False, compare=False)
    is_bare: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "word", self.api.value)
        object.__setattr__(self, "is_bare", self.about_prompt is None and self.most_tokens is None)
        if (self.stream or self.api is not Api.COMPLETIONS) and not self.is_bare:
            more = f"{self.about_prompt!r}, at most {self.most_tokens!r} tokens,"
            raise ValueError(f"{more} of a stream or a chat; expected it of a whole completion alone")


@cache
def form_of(api: str, stream: bool) -> Form:
    """One object for each form, whatever it is asked for by. Raises ValueError for an API that is none."""
    return Form(api=Api(api), stream=stream)


COMPLETION = form_of(Api.COMPLETIONS, False)
STREAM = form_of(Api.COMPLETIONS, True)
