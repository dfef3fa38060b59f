"""The faults that strike an exchange before a reply, and the replies that are whole and no success."""

from faults.acts import Act, End, Fragment, Hang
from faults.answer import Answer
from faults.coverage import (
    CORE,
    CORE_REUSED_TOO,
    ONCE,
    REUSED_TOO,
    Coverage,
    Dimension,
    and_in,
    left,
    over_tls,
    segmented,
    streamed,
)
from faults.fault import RFC_RETRY, Fault
from faults.vocabulary import Content, Ending, Noise, Side

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
    (409, "S5", "RFC 9110 s15.5.10; with an Idempotency-Key: in flight, so not to be sent again", _AN_ANSWER, ONCE),
    (413, "S6", "RFC 9110 s15.5.14: the content is larger than the router takes", _AN_ANSWER, ONCE),
    (422, "S5", "RFC 9110 s15.5.21; with an Idempotency-Key: another payload", _AN_ANSWER, REUSED_TOO),
    *(
        (status, "S8", "RFC 9110 s15.4: whether to follow is for the caller to decide", _AN_ANSWER, ONCE)
        for status in (301, 302, 303, 307, 308)
    ),
)
_SIDES = ((Side.BEFORE, Side.AFTER), (Side.AFTER, Side.BEFORE))


def wait_faults() -> list[Fault]:
    """Reset, FIN and silence before the reply, on both sides of EXECUTE."""
    faults = []
    for side, other in _SIDES:
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
                    row_reused="K3" if side is Side.AFTER and isinstance(act, End) else "",
                    coverage=_covered(name, side),
                )
            )
    return faults


def _covered(name: str, side: Side) -> Coverage:
    waits = over_tls(CORE_REUSED_TOO)
    if name == "silence":  # the twin of a reply that comes too late, which is followed
        followed = and_in(Dimension.FOLLOWED, coverage=waits)
        return left(followed) if side is Side.AFTER else followed
    if name != "reset":
        return waits
    coverage = streamed(segmented(waits))
    return and_in(Dimension.FIRST_2MB, coverage=coverage) if side is Side.AFTER else coverage


def fragment_faults() -> list[Fault]:
    """Bytes that are no final reply, on both sides of EXECUTE."""
    kinds = [
        ("100-reset", "100 Continue, then RST", "H4", (100,), None, Ending.RESET),
        ("103-fin", "103 Early Hints, then FIN", "H4", (103,), None, Ending.FIN),
        ("tls-alert", "the bytes of a TLS alert, then FIN", "R3", (), Noise.TLS_ALERT, Ending.FIN),
        ("garbage", "bytes that are no HTTP, then FIN", "R3", (), Noise.GARBAGE, Ending.FIN),
        ("garbage-reset", "bytes that are no HTTP, then RST", "R3", (), Noise.GARBAGE, Ending.RESET),
    ]
    return [
        Fault(
            id=f"{name}-{side}",
            says=f"the request was read whole; {side} EXECUTE {what}",
            act=Fragment(side=side, interim=interim, noise=noise, ending=ending),
            row=row,
            authority=RFC_RETRY + ("" if noise else "; RFC 9110 s15.2: an interim response promises nothing"),
            twin=f"{name}-{other}",
        )
        for name, what, row, interim, noise, ending in kinds
        for side, other in _SIDES
    ]


def status_faults() -> list[Fault]:
    """Whole replies whose status is no success."""
    return [*_no_workers(), *_server_errors(), *_other_statuses()]


def _no_workers() -> list[Fault]:
    """What the contract names, and what only looks like it."""
    named = Fault(
        id="503-no-workers",
        says="503 with the body that the contract names as not accepted, before EXECUTE",
        act=Answer(side=Side.BEFORE, status=503, content=Content.NO_WORKERS),
        row="S1",
        authority="the router's published contract; without one: " + RFC_RETRY,
        no_twin="after EXECUTE it would be a router that breaks its own contract",
        coverage=streamed(segmented(CORE)),
    )
    others = [
        Fault(
            id=f"500-no-workers-{side}",
            says=f"500 with the body that the contract names for a 503, {side} EXECUTE",
            act=Answer(side=side, status=500, content=Content.NO_WORKERS),
            row="S1",
            authority="a contract names status and text together; " + RFC_RETRY,
            twin=f"500-no-workers-{other}",
        )
        for side, other in _SIDES
    ]
    return [named, *others]


def _server_errors() -> list[Fault]:
    """With and without a Retry-After, on both sides of EXECUTE."""
    return [
        _server_error(status, retry_after_s, side, other)
        for status in (429, 500, 502, 503, 504)
        for retry_after_s in (None, 1)
        for side, other in _SIDES
    ]


def _server_error(status: int, retry_after_s: int | None, side: Side, other: Side) -> Fault:
    name = f"{status}" if retry_after_s is None else f"{status}-retry-after"
    coverage = CORE if retry_after_s is None else REUSED_TOO
    hint = "" if retry_after_s is None else f" with Retry-After: {retry_after_s}"
    return Fault(
        id=f"{name}-{side}",
        says=f"{status}{hint}, {side} EXECUTE",
        act=Answer(side=side, status=status, content=Content.ERROR, retry_after_s=retry_after_s),
        row="S2" if status in (502, 504) else "S1",
        authority=RFC_RETRY + "; Retry-After is no proof",
        twin=f"{name}-{other}",
        coverage=segmented(coverage) if name == "503" else coverage,
    )


def _other_statuses() -> list[Fault]:
    """What proves that nothing was applied, and what is an answer whatever was done."""
    return [
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
