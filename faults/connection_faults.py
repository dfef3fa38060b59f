"""The faults that strike a listener, before a request is read."""

from faults.acts import Act, DropSyn, EndUnread, LeaveUnread, NeverAccept, Refuse, ResetAtAccept, Unreachable
from faults.coverage import (
    BESIDE_HEALTHY,
    LISTENER_CORE,
    LISTENER_DEEP,
    LISTENER_SLOW,
    ONCE,
    Coverage,
    Dimension,
    and_in,
    over_tls,
)
from faults.fault import RFC_RETRY, Fault
from faults.vocabulary import Ending

_NOTHING_SENT = "no byte of the request was sent; RFC 9110 s15.6.4: a server may simply refuse the connection"


def connection_faults() -> list[Fault]:
    """Refused, dropped, left unread, reset before the request is read."""
    return [*_dial_faults(), _accept_reset(), *_unserved_faults()]


def _dial_faults() -> list[Fault]:
    """There is no connection."""
    dials = (
        (
            "connect-refused",
            "the port refuses the connection",
            Refuse(),
            "C2",
            _NOTHING_SENT,
            and_in(Dimension.FIRST_OF_TWO_2MB, coverage=over_tls(LISTENER_CORE)),
        ),
        (
            "host-unreachable",
            "the network answers that the host is unreachable (ICMP)",
            Unreachable(),
            "C4",
            "no byte of the request was sent (measured: EHOSTUNREACH at once)",
            ONCE,
        ),
        (
            "syn-dropped",
            "the accept queue is full and the kernel drops the SYN",
            DropSyn(),
            "C3",
            "no byte of the request was sent (measured: the next connect times out)",
            LISTENER_CORE,
        ),
    )
    proof = "SAFE evidence: it proves that nothing was applied"
    return [
        Fault(id=id_, says=says, act=act, row=row, authority=authority, no_twin=proof, coverage=coverage)
        for id_, says, act, row, authority, coverage in dials
    ]


def _accept_reset() -> Fault:
    return Fault(
        id="accept-reset",
        says="the connection is reset as soon as it is accepted",
        act=ResetAtAccept(),
        row="A2",
        authority="measured on nginx: retried when no byte had been seen, not retried when one had",
        no_twin="whether the request had been written is unknown to the router: it only tells",
        coverage=LISTENER_SLOW,
    )


def _unserved_faults() -> list[Fault]:
    """There is a connection, and what comes on it is not read while its sender waits."""
    return [
        Fault(id=id_, says=says, act=act, row=row, authority=RFC_RETRY, twin=twin, coverage=coverage)
        for id_, says, act, row, twin, coverage in (*_QUEUED, *_UNREAD, *_ENDED)
    ]


_Row = tuple[str, str, Act, str, str, Coverage]  # id, says, act, row, twin, coverage

_QUEUED: tuple[_Row, ...] = (
    (
        "queue-reset",
        "nobody accepts the connection; when the request lies in its queue the listener is closed",
        NeverAccept(closes=True),
        "A2",
        "reset-after",
        BESIDE_HEALTHY,
    ),
    (
        "queue-never",
        "the kernel completes the connection, and nobody ever accepts it",
        NeverAccept(closes=False),
        "A1",
        "silence-after",
        BESIDE_HEALTHY,
    ),
)
_UNREAD: tuple[_Row, ...] = (
    (
        "unread-late",
        "the connection is accepted, left unread, and served two read timeouts after the request arrived",
        LeaveUnread(serve_after=2.0),
        "A1",
        "silence-before",
        LISTENER_SLOW,
    ),
    (
        "unread-never",
        "the connection is accepted and never read",
        LeaveUnread(),
        "A1",
        "silence-after",
        and_in(Dimension.REUSED, coverage=LISTENER_SLOW),
    ),
)
_ENDED: tuple[_Row, ...] = (
    (
        "unread-reset",
        "the connection is reset when request bytes have arrived unread",
        EndUnread(ending=Ending.RESET),
        "K2",
        "reset-after",
        and_in(Dimension.REUSED, coverage=over_tls(LISTENER_CORE)),
    ),
    (
        "unread-fin",
        "the connection is closed when request bytes have arrived unread",
        EndUnread(ending=Ending.FIN),
        "K2",
        "fin-after",
        and_in(Dimension.REUSED, coverage=BESIDE_HEALTHY),
    ),
    (
        "unread-fin-abandoned",
        "request bytes that arrive unread cross the FIN, and are answered with RST",
        EndUnread(ending=Ending.FIN, abandoned=True),
        "K2",
        "fin-after",
        and_in(Dimension.REUSED, coverage=LISTENER_DEEP),
    ),
)
