"""The ledger's entries: what really happened, in order, one kind of entry for each kind of fact.

`seq` orders all entries of one ledger. `at_ns` is the machine's monotonic clock in nanoseconds; it is there for
timelines, and to tell who was called while a pool was held. `operation` is the id that rode in the content (None:
unknown). Connections and exchanges are numbered from 1 in the order in which the router saw them, upstreams from 0.
"""

from enum import StrEnum

import msgspec

from faults.form import Form

NOT_ANSWERED = 0  # the status of a Probed that got no answer, or none yet


class Witness(StrEnum):
    """Who says that a fault struck."""

    ACT = "act"  # the router did it itself, and this entry was made by doing it
    SK_DROPS = "sk_drops"  # the kernel's count of SYNs dropped at the listener (sock_diag)
    PACKET = "packet"  # a packet socket saw the SYN, and the RST that answered it (needs CAP_NET_RAW)
    QUESTION = "question"  # the name server of ours was asked, and failed whoever asked
    HELD = "held"  # while the only connection of its pool was held, nobody connected and nothing was received
    QUEUE = "queue"  # sock_diag showed the connection in the accept queue, with bytes of a request in it
    LOST = "lost"  # Toxiproxy counted bytes that came to it and never left it
    ENDED = "ended"  # a toxic was set while the router had something open through it, and Toxiproxy still has it
    ENGINE = "engine"  # Docker says that what was done to a container was done, and had lasted when all had an outcome
    EXCLUSION = "exclusion"  # every upstream refuses, and no listener saw a connection


class EndedBy(StrEnum):
    """Who ended a connection."""

    PEER = "peer"  # FIN, or an error, from the subject
    ROUTER_FIN = "router-fin"
    ROUTER_RESET = "router-reset"


class Entry(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag_field="entry", tag=True):
    """What every entry has."""

    seq: int
    at_ns: int = 0


class Opened(Entry, frozen=True, kw_only=True):
    """The router has accepted a connection."""

    connection: int
    upstream: int
    peer_port: int


class Greeted(Entry, frozen=True, kw_only=True):
    """The ClientHello of a connection was read; `server_name` is whom it was meant for (RFC 6066 s3). None: nobody.

    No check rests on it: a client that dials an address must send no name (RFC 6066 s3), and may verify all the same.
    """

    connection: int
    server_name: str | None


class Closed(Entry, frozen=True, kw_only=True):
    """A connection is over."""

    connection: int
    by: EndedBy


class Received(Entry, frozen=True, kw_only=True):
    """The last byte of a request was read: an exchange. `nth` counts the exchanges of its connection from 1
    (nth > 1: the connection was reused), `of_operation` those of its operation from 1. `api` and `stream` are the
    form in which it was asked for. The digests are those of its body's bytes, and of its prompt or messages: None where
    it carries no operation. `prompt_logprobs` is how many of the likeliest tokens were asked for in each place of the
    `prompt`; None: its logprobs were not, and the prompt is not kept. `most_tokens` is how many tokens of the result it
    allows; None: all of them.
    """

    exchange: int
    connection: int
    upstream: int
    nth: int
    operation: int | None
    of_operation: int = 1
    body_bytes: int = 0
    body_digest: int | None = None
    content_digest: int | None = None
    api: str = "completions"
    stream: bool = False
    prompt_logprobs: int | None = None
    prompt: tuple[int, ...] = ()
    most_tokens: int | None = None

    def asking(self, form: Form) -> "Received":
        """The same, with all that is said of the answer in that form."""
        received = msgspec.structs.replace(self, most_tokens=form.most_tokens)
        about = form.about_prompt
        if about is None:
            return received
        return msgspec.structs.replace(received, prompt_logprobs=about.likeliest, prompt=about.tokens)


class Accepted(Entry, frozen=True, kw_only=True):
    """The router took the work on."""

    exchange: int


class Executed(Entry, frozen=True, kw_only=True):
    """The work was done; `execution` is unique in the router's life, `choices` is how many were asked for."""

    exchange: int
    execution: int
    choices: int = 1


class Replying(Entry, frozen=True, kw_only=True):
    """The router is about to hand the bytes of a reply to the kernel. `of_bytes` is the size of the whole reply; status
    is 0 for bytes that are no final reply.
    """

    exchange: int
    status: int
    of_bytes: int


class Replied(Entry, frozen=True, kw_only=True):
    """That many bytes of a reply were handed to the kernel; `whole`: all of the reply."""

    exchange: int
    bytes_sent: int
    whole: bool


class Striking(Entry, frozen=True, kw_only=True):
    """A fault is about to strike: opened before the act. A Striking without its Struck proves nothing.

    exchange is None for a fault that strikes a connection or a listener, connection None for a listener. An exchange
    without a Received is one whose request was answered before it was read. A connection that nobody has accepted
    has its number all the same.
    """

    fault: str
    upstream: int | None
    connection: int | None = None
    exchange: int | None = None
    operation: int | None = None


class Struck(Entry, frozen=True, kw_only=True):
    """The fault of the entry `striking` has struck, `count` times, says the witness. lost_bytes: what was lost on the
    way to its upstream, by whatever connections.
    """

    striking: int
    witness: Witness
    count: int = 1
    lost_bytes: int = 0


class Unserved(Entry, frozen=True, kw_only=True):
    """Request bytes arrived on a connection and were never executed: seen by MSG_PEEK, or read after settling
    from what lay in a queue. One sending; its operation is known where the bytes held it. body_bytes: how much of its
    body came behind a whole head, where not all of it did; None: nobody saw.
    """

    connection: int
    upstream: int
    operation: int | None
    request_bytes: int
    body_bytes: int | None = None


class Dialled(Entry, frozen=True, kw_only=True):
    """A packet witness saw one attempt to connect to a faulty listener, and whether it was refused by RST or
    dropped. One per source port: the kernel's re-sent SYNs are the same attempt.
    """

    upstream: int
    peer_port: int
    refused: bool


class Sighted(Entry, frozen=True, kw_only=True):
    """A packet witness saw a request on its way to a Toxiproxy that loses requests. `peer_port` is its sender's;
    operation is the id in its content, None for a probe and where its bytes do not tell.
    """

    upstream: int
    peer_port: int
    operation: int | None
    probe: bool
    request_bytes: int


class Asked(Entry, frozen=True, kw_only=True):
    """The name of an upstream was asked for, by a question of that DNS type, and a fault gave the answer."""

    upstream: int
    question: str
    answer: str


class Probed(Entry, frozen=True, kw_only=True):
    """A request that carries no operation: a health probe or the like. Never an attempt.

    status is 0 (NOT_ANSWERED) for one that a faulty listener or an ended connection left unserved. A strike of that
    connection before this entry is the probe's: it names no operation. One that is served late has two entries.
    """

    connection: int
    upstream: int
    method: str
    target: str
    status: int


class Rejected(Entry, frozen=True, kw_only=True):
    """Bytes that are no request, or a request for work that the router could not understand; answered with a 4xx.
    body_bytes: of a whole request.
    """

    connection: int
    upstream: int
    status: int
    why: str
    body_bytes: int | None = None


class Marked(Entry, frozen=True, kw_only=True):
    """A point in the run's life: armed, healed, settled, released, or the opening of a gate."""

    mark: str


AnyEntry = (
    Opened
    | Greeted
    | Closed
    | Received
    | Accepted
    | Executed
    | Replying
    | Replied
    | Striking
    | Struck
    | Unserved
    | Dialled
    | Sighted
    | Asked
    | Probed
    | Rejected
    | Marked
)
