"""The faults that strike an exchange: the request was read whole."""

from faults.acts import HEALTHY, Act, Answer, End, Hang
from faults.coverage import (
    CORE,
    CORE_REUSED_TOO,
    REUSED_TOO,
    Coverage,
    in_all_forms,
    left,
    over_tls,
    segmented,
    streamed,
)
from faults.fault import RFC_RETRY, Fault
from faults.vocabulary import Content, Cut, Ending, Framing, Side

_RFC_2XX = "RFC 9110 s15.3: a 2xx says that the request was accepted"
_RFC_CUT = "RFC 9112 s8: the message is incomplete"

_LIAR = "SAFE evidence: after EXECUTE it would be a router that lies"
# Core is what tells forwarders apart best; another fault of the same class does it as well as those that are not.
_SAFE_STATUSES = (
    (408, "S3", "RFC 9110 s15.5.9: the client MAY repeat the request on a new connection", _LIAR, CORE),
    (421, "S4", "RFC 9110 s15.5.20: the client MAY retry over another connection", _LIAR, REUSED_TOO),
    (425, "S4", "RFC 8470 s5.2: not processed; may be sent again, but not in early data", _LIAR, REUSED_TOO),
)
_AN_ANSWER = "FINAL: an answer, whatever was done for it"
_FINAL_STATUSES = (
    (400, "S6", "RFC 9110 s15.5.1: the request is at fault", _AN_ANSWER, CORE),
    (404, "S6", "RFC 9110 s15.5.5: there is nothing of that name", _AN_ANSWER, REUSED_TOO),
    (422, "S5", "RFC 9110 s15.5.21; with an Idempotency-Key: another payload", _AN_ANSWER, REUSED_TOO),
)


def wait_faults() -> list[Fault]:
    """Reset, FIN and silence before the reply, on both sides of EXECUTE."""
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
                    authority=RFC_RETRY,
                    twin=f"{name}-{other}",
                    coverage=_covered(name, side),
                )
            )
    return faults


def _covered(name: str, side: Side) -> Coverage:
    waits = over_tls(CORE_REUSED_TOO)
    if name == "silence" and side is Side.AFTER:
        return left(waits)
    return streamed(segmented(waits)) if name == "reset" else waits


def status_faults() -> list[Fault]:
    """Whole replies whose status is no success."""
    faults = [
        Fault(
            id="503-no-workers",
            says="503 with the body that the contract names as not accepted, before EXECUTE",
            act=Answer(side=Side.BEFORE, status=503, content=Content.NO_WORKERS),
            row="S1",
            authority="the router's published contract; without one: " + RFC_RETRY,
            no_twin="after EXECUTE it would be a router that breaks its own contract",
            coverage=streamed(segmented(CORE)),
        )
    ]
    for status in (429, 500, 502, 503, 504):
        for retry_after_s in (None, 1):
            for side, other in ((Side.BEFORE, Side.AFTER), (Side.AFTER, Side.BEFORE)):
                name = f"{status}" if retry_after_s is None else f"{status}-retry-after"
                coverage = CORE if retry_after_s is None else REUSED_TOO
                hint = "" if retry_after_s is None else f" with Retry-After: {retry_after_s}"
                faults.append(
                    Fault(
                        id=f"{name}-{side}",
                        says=f"{status}{hint}, {side} EXECUTE",
                        act=Answer(side=side, status=status, content=Content.ERROR, retry_after_s=retry_after_s),
                        row="S2" if status in (502, 504) else "S1",
                        authority=RFC_RETRY + "; Retry-After is no proof",
                        twin=f"{name}-{other}",
                        coverage=segmented(coverage) if name == "503" else coverage,
                    )
                )
    return faults + [
        Fault(
            id=f"{status}-before",
            says=f"{status}, before EXECUTE",
            act=Answer(side=Side.BEFORE, status=status, content=Content.ERROR),
            row=row,
            authority=authority,
            no_twin=no_twin,
            coverage=coverage,
        )
        for status, row, authority, no_twin, coverage in (*_SAFE_STATUSES, *_FINAL_STATUSES)
    ]


def final_faults() -> list[Fault]:
    """A 200 whose content is wrong, or whose body is cut."""
    contents = (
        ("html-200", Content.HTML, "an HTML page with 200", over_tls(streamed(segmented(CORE)))),
        ("empty-200", Content.EMPTY, "an empty body with 200", CORE),
        ("shape-200", Content.WRONG_SHAPE, "JSON of the wrong shape with 200", CORE),
        ("null-200", Content.NULL, "the JSON value null with 200", REUSED_TOO),
        ("object-200", Content.OBJECT, "an empty JSON object with 200", CORE),
        ("no-choices-200", Content.NO_CHOICES, "a completion without a choice, with 200", REUSED_TOO),
        ("error-200", Content.ERROR_OBJECT, "an error object with 200", in_all_forms(CORE)),
    )
    faults = [
        Fault(
            id=id_,
            says=says,
            act=Answer(side=Side.AFTER, content=content),
            row="S7",
            authority=_RFC_2XX,
            no_twin="FINAL: the work is known to have run",
            coverage=coverage,
        )
        for id_, content, says, coverage in contents
    ]
    cuts = (
        ("length", Framing.LENGTH, Cut.HALF, "B1", "half of the body, short of Content-Length, then", over_tls(CORE)),
        ("chunked", Framing.CHUNKED, Cut.HALF, "B2", "half of a chunked body, then", in_all_forms(CORE)),
        (
            "last-chunk",
            Framing.CHUNKED,
            Cut.LAST_CHUNK,
            "B2",
            "all of a chunked body but its last chunk, then",
            REUSED_TOO,
        ),
    )
    faults += [
        Fault(
            id=f"body-{name}-{ending}",
            says=f"200 with {says} {'RST' if ending is Ending.RESET else 'FIN'}",
            act=Answer(side=Side.AFTER, framing=framing, cut=cut, ending=ending),
            row=row,
            authority=_RFC_CUT,
            no_twin="FINAL: the work is known to have run",
            coverage=coverage,
        )
        for name, framing, cut, row, says, coverage in cuts
        for ending in (Ending.FIN, Ending.RESET)
    ]
    return faults


def time_faults() -> list[Fault]:
    """Replies that come late; and the one that is simply well."""
    return [
        Fault(
            id="slow-inside",
            says="the reply comes after a third of the read timeout",
            act=Answer(side=Side.AFTER, delay=1 / 3),
            row="H3",
            authority="a slow answer is an answer",
            no_twin="FINAL: the work is known to have run",
            coverage=left(streamed(CORE)),
        ),
        Fault(
            id="slow-beyond",
            says="the reply comes after two read timeouts, when the forwarder has given up",
            act=Answer(side=Side.AFTER, delay=2.0),
            row="H3",
            authority=RFC_RETRY,
            twin="silence-before",
            coverage=CORE,
        ),
        Fault(
            id="healthy",
            says="nothing is wrong",
            act=HEALTHY,
            row="-",
            authority=_RFC_2XX,
            no_twin="FINAL: the work is known to have run",
            coverage=over_tls(left(in_all_forms(segmented(CORE)))),
        ),
    ]
