"""What is said to the process of the SDK, and what it says: one JSON object a line, in each direction."""

import msgspec


class Order(msgspec.Struct, frozen=True, kw_only=True, tag_field="order", tag=str.lower):
    """What every order has: the number of the client that it is about."""

    client: int


class Open(Order, frozen=True, kw_only=True):
    """A new client of the server at that URL, with a session of its own. httpx: on httpx's own transport, whatever the
    server's client/config says. headers: what it sends with every request, beside the SDK's own.
    """

    url: str
    headers: dict[str, str] = {}
    httpx: bool = False


class Sample(Order, frozen=True, kw_only=True):
    """sample(). call: the number under which its answer comes."""

    call: int
    prompt: tuple[int, ...]
    num_samples: int = 1
    max_tokens: int = 64
    seed: int | None = None
    stop: tuple[int, ...] = ()
    prompt_logprobs: bool = False
    topk: int = 0


class Compute(Order, frozen=True, kw_only=True):
    """compute_logprobs()."""

    call: int
    prompt: tuple[int, ...]


class Close(Order, frozen=True, kw_only=True):
    """That client is used no more: its heartbeat ends."""


AnyOrder = Open | Sample | Compute | Close
Asking = Sample | Compute


class Answer(msgspec.Struct, frozen=True, kw_only=True, tag_field="answer", tag=str.lower):
    """What every answer is."""


class Opened(Answer, frozen=True, kw_only=True):
    """That client has its session. pyqwest: the server's client/config leaves the SDK its transport of that name."""

    client: int
    pyqwest: bool


class NotOpened(Answer, frozen=True, kw_only=True):
    """The SDK raised that error."""

    client: int
    error: str
    says: str


class Sequence(msgspec.Struct, frozen=True, kw_only=True):
    """One sampled sequence, as the SDK hands it out."""

    tokens: tuple[int, ...]
    logprobs: tuple[float, ...] | None
    stop_reason: str


Likeliest = tuple[tuple[int, float], ...]  # tokens and their logprobs, in the place of one token of a prompt


class Sampled(Answer, frozen=True, kw_only=True):
    """sample() has returned."""

    call: int
    sequences: tuple[Sequence, ...]
    prompt_logprobs: tuple[float | None, ...] | None = None
    topk: tuple[Likeliest | None, ...] | None = None


class Computed(Answer, frozen=True, kw_only=True):
    """compute_logprobs() has returned."""

    call: int
    logprobs: tuple[float | None, ...]


class Raised(Answer, frozen=True, kw_only=True):
    """It raised that error instead."""

    call: int
    error: str
    says: str


Returned = Sampled | Computed | Raised
AnyAnswer = Opened | NotOpened | Returned
