"""The catalogue: every fault that a plan can name. Adding a fault is one entry here."""

from dataclasses import dataclass
from difflib import get_close_matches

from faults.acts import (
    HEALTHY,
    Act,
    Answer,
    DropSyn,
    End,
    Hang,
    LeaveUnread,
    Refuse,
    ResetAtAccept,
    ResetUnread,
)
from faults.evidence import NO_CONTRACT, Contract, Evidence, classify
from faults.truth import Truth, evidence_of, phase_of, truth_of
from faults.vocabulary import Class, Content, Cut, Ending, Framing, Phase, Side


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that can go wrong, at one point, exactly described.

    `twin` names a fault with the same evidence and the opposite truth; `no_twin` says why there is none.
    `row` is the name of the failure point (letter and number, in wire order) in docs/failure-points.
    """

    id: str
    says: str
    act: Act
    row: str
    authority: str
    twin: str | None = None
    no_twin: str = ""

    @property
    def phase(self) -> Phase:
        """Where in wire order it strikes."""
        return phase_of(self.act)

    @property
    def truth(self) -> Truth:
        """What the ledger must say of it."""
        return truth_of(self.act)

    @property
    def evidence(self) -> Evidence:
        """What the forwarder has in hand afterwards."""
        return evidence_of(self.act)

    def class_under(self, contract: Contract = NO_CONTRACT) -> Class:
        """What that evidence proves to a forwarder behind whose router this contract holds."""
        return classify(self.evidence, contract)


_RFC_RETRY = "RFC 9110 s9.2.2: no automatic retry without means to detect that it was never applied"
_RFC_2XX = "RFC 9110 s15.3: a 2xx says that the request was accepted"
_RFC_CUT = "RFC 9112 s8: the message is incomplete"
_NOTHING_SENT = "no byte of the request was sent; RFC 9110 s15.6.4: a server may simply refuse the connection"


def _connection_faults() -> list[Fault]:
    return [
        Fault(
            id="connect-refused",
            says="the port refuses the connection",
            act=Refuse(),
            row="C2",
            authority=_NOTHING_SENT,
            no_twin="SAFE evidence: it proves that nothing was applied",
        ),
        Fault(
            id="syn-dropped",
            says="the accept queue is full and the kernel drops the SYN",
            act=DropSyn(),
            row="C3",
            authority="no byte of the request was sent (measured: the next connect times out)",
            no_twin="SAFE evidence: it proves that nothing was applied",
        ),
        Fault(
            id="accept-reset",
            says="the connection is reset as soon as it is accepted",
            act=ResetAtAccept(),
            row="A2",
            authority="measured on nginx: retried when no byte had been seen, not retried when one had",
            no_twin="whether the request had been written is unknown to the router: it only tells",
        ),
        Fault(
            id="unread-late",
            says="the connection is accepted, left unread, and served two read timeouts after the request arrived",
            act=LeaveUnread(serve_after=2.0),
            row="A1",
            authority=_RFC_RETRY,
            twin="silence-before",
        ),
        Fault(
            id="unread-never",
            says="the connection is accepted and never read",
            act=LeaveUnread(),
            row="A1",
            authority=_RFC_RETRY,
            twin="silence-after",
        ),
        Fault(
            id="unread-reset",
            says="the connection is reset when request bytes have arrived unread",
            act=ResetUnread(),
            row="K2",
            authority=_RFC_RETRY,
            twin="reset-after",
        ),
    ]


def _wait_faults() -> list[Fault]:
    faults = []
    for side, other in ((Side.BEFORE, Side.AFTER), (Side.AFTER, Side.BEFORE)):
        acts: dict[str, tuple[str, str, Act]] = {
            "reset": ("the connection is reset", "H2", End(side=side, ending=Ending.RESET)),
            "fin": ("the connection is closed", "H1", End(side=side, ending=Ending.FIN)),
            "silence": ("nothing is ever sent", "H3", Hang(side=side)),
        }
        for name, (what, row, act) in acts.items():
            faults.append(
                Fault(
                    id=f"{name}-{side}",
                    says=f"the request was read whole; {side} EXECUTE {what}, without a reply byte",
                    act=act,
                    row=row,
                    authority=_RFC_RETRY,
                    twin=f"{name}-{other}",
                )
            )
    return faults


def _status_faults() -> list[Fault]:
    faults = [
        Fault(
            id="503-no-workers",
            says="503 with the body that the contract names as not accepted, before EXECUTE",
            act=Answer(side=Side.BEFORE, status=503, content=Content.NO_WORKERS),
            row="S1",
            authority="the router's published contract; without one: " + _RFC_RETRY,
            no_twin="after EXECUTE it would be a router that breaks its own contract",
        )
    ]
    for status in (429, 500, 502, 503, 504):
        for retry_after_s in (None, 1):
            for side, other in ((Side.BEFORE, Side.AFTER), (Side.AFTER, Side.BEFORE)):
                name = f"{status}" if retry_after_s is None else f"{status}-retry-after"
                hint = "" if retry_after_s is None else f" with Retry-After: {retry_after_s}"
                faults.append(
                    Fault(
                        id=f"{name}-{side}",
                        says=f"{status}{hint}, {side} EXECUTE",
                        act=Answer(side=side, status=status, content=Content.ERROR, retry_after_s=retry_after_s),
                        row="S2" if status in (502, 504) else "S1",
                        authority=_RFC_RETRY + "; Retry-After is no proof",
                        twin=f"{name}-{other}",
                    )
                )
    return faults


def _final_faults() -> list[Fault]:
    contents = (
        ("html-200", Content.HTML, "an HTML page with 200"),
        ("empty-200", Content.EMPTY, "an empty body with 200"),
        ("shape-200", Content.WRONG_SHAPE, "JSON of the wrong shape with 200"),
    )
    faults = [
        Fault(
            id=id_,
            says=says,
            act=Answer(side=Side.AFTER, content=content),
            row="S7",
            authority=_RFC_2XX,
            no_twin="FINAL: the work is known to have run",
        )
        for id_, content, says in contents
    ]
    cuts = (
        ("length", Framing.LENGTH, Cut.HALF, "B1", "half of the body, short of Content-Length, then"),
        ("chunked", Framing.CHUNKED, Cut.HALF, "B2", "half of a chunked body, then"),
        ("last-chunk", Framing.CHUNKED, Cut.LAST_CHUNK, "B2", "all of a chunked body but its last chunk, then"),
    )
    faults += [
        Fault(
            id=f"body-{name}-{ending}",
            says=f"200 with {says} {'RST' if ending is Ending.RESET else 'FIN'}",
            act=Answer(side=Side.AFTER, framing=framing, cut=cut, ending=ending),
            row=row,
            authority=_RFC_CUT,
            no_twin="FINAL: the work is known to have run",
        )
        for name, framing, cut, row, says in cuts
        for ending in Ending
    ]
    return faults


def _time_faults() -> list[Fault]:
    return [
        Fault(
            id="slow-inside",
            says="the reply comes after a third of the read timeout",
            act=Answer(side=Side.AFTER, delay=1 / 3),
            row="H3",
            authority="a slow answer is an answer",
            no_twin="FINAL: the work is known to have run",
        ),
        Fault(
            id="slow-beyond",
            says="the reply comes after two read timeouts, when the forwarder has given up",
            act=Answer(side=Side.AFTER, delay=2.0),
            row="H3",
            authority=_RFC_RETRY,
            twin="silence-before",
        ),
        Fault(
            id="healthy",
            says="nothing is wrong",
            act=HEALTHY,
            row="-",
            authority=_RFC_2XX,
            no_twin="FINAL: the work is known to have run",
        ),
    ]


CATALOGUE: dict[str, Fault] = {
    fault.id: fault
    for fault in (*_connection_faults(), *_wait_faults(), *_status_faults(), *_final_faults(), *_time_faults())
}


class UnknownFaultError(ValueError):
    """A plan or a caller names a fault that the catalogue does not hold."""


def fault_named(id_: str) -> Fault:
    """The fault of that id. Raises UnknownFaultError with the nearest names."""
    try:
        return CATALOGUE[id_]
    except KeyError:
        near = ", ".join(get_close_matches(id_, CATALOGUE, n=3)) or "see `retryproof faults`"
        raise UnknownFaultError(f"fault {id_!r} is not in the catalogue; nearest: {near}") from None
