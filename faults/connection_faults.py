"""The faults that strike a listener, before a request is read."""

from faults.acts import DropSyn, EndUnread, LeaveUnread, NeverAccept, Refuse, ResetAtAccept, Unreachable
from faults.coverage import (
    BESIDE_HEALTHY,
    LISTENER_CORE,
    LISTENER_DEEP,
    LISTENER_SLOW,
    Dimension,
    and_in,
    over_tls,
)
from faults.fault import RFC_RETRY, Fault
from faults.vocabulary import Ending

_NOTHING_SENT = "no byte of the request was sent; RFC 9110 s15.6.4: a server may simply refuse the connection"


def connection_faults() -> list[Fault]:
    """Refused, dropped, left unread, reset before the request is read."""
    return [
        Fault(
            id="connect-refused",
            says="the port refuses the connection",
            act=Refuse(),
            row="C2",
            authority=_NOTHING_SENT,
            no_twin="SAFE evidence: it proves that nothing was applied",
            coverage=and_in(Dimension.FIRST_OF_TWO_2MB, coverage=over_tls(LISTENER_CORE)),
        ),
        Fault(
            id="host-unreachable",
            says="the network answers that the host is unreachable (ICMP)",
            act=Unreachable(),
            row="C4",
            authority="no byte of the request was sent (measured: EHOSTUNREACH at once)",
            no_twin="SAFE evidence: it proves that nothing was applied",
        ),
        Fault(
            id="syn-dropped",
            says="the accept queue is full and the kernel drops the SYN",
            act=DropSyn(),
            row="C3",
            authority="no byte of the request was sent (measured: the next connect times out)",
            no_twin="SAFE evidence: it proves that nothing was applied",
            coverage=LISTENER_CORE,
        ),
        Fault(
            id="accept-reset",
            says="the connection is reset as soon as it is accepted",
            act=ResetAtAccept(),
            row="A2",
            authority="measured on nginx: retried when no byte had been seen, not retried when one had",
            no_twin="whether the request had been written is unknown to the router: it only tells",
            coverage=LISTENER_SLOW,
        ),
        Fault(
            id="queue-reset",
            says="nobody accepts the connection; when the request lies in its queue the listener is closed",
            act=NeverAccept(closes=True),
            row="A2",
            authority=RFC_RETRY,
            twin="reset-after",
            coverage=BESIDE_HEALTHY,
        ),
        Fault(
            id="queue-never",
            says="the kernel completes the connection, and nobody ever accepts it",
            act=NeverAccept(closes=False),
            row="A1",
            authority=RFC_RETRY,
            twin="silence-after",
            coverage=BESIDE_HEALTHY,
        ),
        Fault(
            id="unread-late",
            says="the connection is accepted, left unread, and served two read timeouts after the request arrived",
            act=LeaveUnread(serve_after=2.0),
            row="A1",
            authority=RFC_RETRY,
            twin="silence-before",
            coverage=LISTENER_SLOW,
        ),
        Fault(
            id="unread-never",
            says="the connection is accepted and never read",
            act=LeaveUnread(),
            row="A1",
            authority=RFC_RETRY,
            twin="silence-after",
            coverage=and_in(Dimension.REUSED, coverage=LISTENER_SLOW),
        ),
        Fault(
            id="unread-reset",
            says="the connection is reset when request bytes have arrived unread",
            act=EndUnread(ending=Ending.RESET),
            row="K2",
            authority=RFC_RETRY,
            twin="reset-after",
            coverage=and_in(Dimension.REUSED, coverage=over_tls(LISTENER_CORE)),
        ),
        Fault(
            id="unread-fin",
            says="the connection is closed when request bytes have arrived unread",
            act=EndUnread(ending=Ending.FIN),
            row="K2",
            authority=RFC_RETRY,
            twin="fin-after",
            coverage=and_in(Dimension.REUSED, coverage=BESIDE_HEALTHY),
        ),
        Fault(
            id="unread-fin-abandoned",
            says="request bytes that arrive unread cross the FIN, and are answered with RST",
            act=EndUnread(ending=Ending.FIN, abandoned=True),
            row="K2",
            authority=RFC_RETRY,
            twin="fin-after",
            coverage=and_in(Dimension.REUSED, coverage=LISTENER_DEEP),
        ),
    ]
