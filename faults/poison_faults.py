"""Every toxic that is itself the fault, at each point of the exchange where it strikes something."""

from collections.abc import Iterator

from faults.coverage import Coverage, Dimension
from faults.fault import RAN, RFC_RETRY, Fault
from faults.poison import Moment, Poison, Poisoning
from faults.toxics import Direction

SOON = 0.2  # of the read timeout: a time-out that closes while its peer still waits
LATE = 2.0  # an end that comes when nobody waits for it any more
IN_HEAD_BYTES = 5  # of a reply: inside its status line, before the status
IN_BODY_BYTES = 200  # of a reply: behind its head
IN_REQUEST_BYTES = 20  # of a request: inside its request line

UP, DOWN = Direction.UPSTREAM, Direction.DOWNSTREAM

_LISTENER = frozenset({Dimension.FIRST_OF_TWO, Dimension.EVERY_UPSTREAM})
_ON_REUSED = Coverage(full=frozenset({Dimension.REUSED}), deep=_LISTENER)
_REUSED_TOO = Coverage(full=frozenset({Dimension.REUSED}))

SAFE_ALONE = "SAFE evidence: it proves that nothing was applied"
NO_OTHER_SIDE = "once a byte of a 2xx head has come, the work is known to have run"


def poison_faults() -> Iterator[Fault]:
    """In the order of Toxiproxy's own documentation."""
    yield from _resets()
    yield from _timeouts()
    yield from _limits()
    yield from _slow_closes()
    yield from _downs()


def _resets() -> Iterator[Fault]:
    kind = Poisoning.RESET_PEER
    yield Fault(
        id="reset_peer-request",
        says="the request is dropped, and its connection reset",
        act=Poison(toxic=kind, direction=UP, at=Moment.CONNECT),
        row="X1",
        authority=RFC_RETRY,
        twin="reset_peer-reply",
    )
    yield Fault(
        id="reset_peer-reply",
        says="the reply is dropped, and its connection reset",
        act=Poison(toxic=kind, direction=DOWN, at=Moment.CONNECT),
        row="X2",
        authority=RFC_RETRY,
        twin="reset_peer-request",
    )
    yield Fault(
        id="reset_peer-request-idle",
        says="on a connection that lay idle the request is dropped, and the connection closed",
        act=Poison(toxic=kind, direction=UP, at=Moment.IDLE),
        row="X1",
        authority=RFC_RETRY,
        twin="reset_peer-executed",
        coverage=_ON_REUSED,
    )
    yield Fault(
        id="reset_peer-executed",
        says="after EXECUTE the reply is dropped, and the connection closed",
        act=Poison(toxic=kind, direction=DOWN, at=Moment.EXECUTED),
        row="X2",
        authority=RFC_RETRY,
        twin="reset_peer-request-idle",
        coverage=_REUSED_TOO,
    )
    yield _in_body("reset_peer-body", Poison(toxic=kind, direction=DOWN, at=Moment.BODY))


def _timeouts() -> Iterator[Fault]:
    kind = Poisoning.TIMEOUT
    for name, after, then in (
        ("timeout", None, "and nothing is closed"),
        ("timeout-closed", SOON, "and the connection is soon closed"),
    ):
        yield Fault(
            id=f"{name}-request",
            says=f"the request is dropped, {then}",
            act=Poison(toxic=kind, direction=UP, at=Moment.CONNECT, after=after),
            row="X1",
            authority=RFC_RETRY,
            twin=f"{name}-reply",
        )
        yield Fault(
            id=f"{name}-reply",
            says=f"the reply is dropped, {then}",
            act=Poison(toxic=kind, direction=DOWN, at=Moment.CONNECT, after=after),
            row="X2",
            authority=RFC_RETRY,
            twin=f"{name}-request",
        )
        yield _in_body(f"{name}-body", Poison(toxic=kind, direction=DOWN, at=Moment.BODY, after=after))
    yield from _timeouts_later()


def _timeouts_later() -> Iterator[Fault]:
    """On connections that exist, and behind the request."""
    kind = Poisoning.TIMEOUT
    yield Fault(
        id="timeout-request-idle",
        says="on a connection that lay idle the request is dropped, and nothing is closed",
        act=Poison(toxic=kind, direction=UP, at=Moment.IDLE),
        row="X1",
        authority=RFC_RETRY,
        twin="timeout-executed",
        coverage=_ON_REUSED,
    )
    yield Fault(
        id="timeout-executed",
        says="after EXECUTE the reply is dropped, and nothing is closed",
        act=Poison(toxic=kind, direction=DOWN, at=Moment.EXECUTED),
        row="X2",
        authority=RFC_RETRY,
        twin="timeout-request-idle",
        coverage=_REUSED_TOO,
    )
    yield Fault(
        id="timeout-closed-received",
        says="before EXECUTE, when the request has arrived, the connection is closed",
        act=Poison(toxic=kind, direction=DOWN, at=Moment.RECEIVED, after=SOON),
        row="X1",
        authority=RFC_RETRY,
        twin="timeout-closed-executed",
    )
    yield Fault(
        id="timeout-closed-executed",
        says="after EXECUTE the reply is dropped, and the connection closed",
        act=Poison(toxic=kind, direction=DOWN, at=Moment.EXECUTED, after=SOON),
        row="X2",
        authority=RFC_RETRY,
        twin="timeout-closed-received",
    )


def _limits() -> Iterator[Fault]:
    kind = Poisoning.LIMIT_DATA
    yield Fault(
        id="limit_data-request",
        says=f"the connection is closed behind {IN_REQUEST_BYTES} bytes of the request",
        act=Poison(toxic=kind, direction=UP, at=Moment.CONNECT, passes_bytes=IN_REQUEST_BYTES),
        row="X1",
        authority=RFC_RETRY,
        twin="limit_data-reply",
    )
    yield Fault(
        id="limit_data-reply",
        says="the connection is closed before the first byte of the reply",
        act=Poison(toxic=kind, direction=DOWN, at=Moment.CONNECT),
        row="X2",
        authority=RFC_RETRY,
        twin="limit_data-request",
    )
    yield Fault(
        id="limit_data-head",
        says=f"the connection is closed behind {IN_HEAD_BYTES} bytes of the reply",
        act=Poison(toxic=kind, direction=DOWN, at=Moment.CONNECT, passes_bytes=IN_HEAD_BYTES),
        row="X2",
        authority=RFC_RETRY,
        no_twin="a router that has begun a reply may have run the work or not: `cut-at-5-fin` has the same evidence",
    )
    yield _in_body(
        "limit_data-reply-body",
        Poison(toxic=kind, direction=DOWN, at=Moment.CONNECT, passes_bytes=IN_BODY_BYTES),
    )
    yield Fault(
        id="limit_data-executed",
        says="after EXECUTE the connection is closed before the first byte of the reply",
        act=Poison(toxic=kind, direction=DOWN, at=Moment.EXECUTED),
        row="X2",
        authority=RFC_RETRY,
        twin="limit_data-request",
    )
    yield _in_body("limit_data-body", Poison(toxic=kind, direction=DOWN, at=Moment.BODY))


def _slow_closes() -> Iterator[Fault]:
    for at in (Moment.CONNECT, Moment.EXECUTED, Moment.BODY):
        name = {Moment.CONNECT: "reply", Moment.EXECUTED: "executed", Moment.BODY: "body"}[at]
        yield Fault(
            id=f"slow_close-{name}",
            says="a reply without a length comes, and the end of its connection comes when nobody waits for it",
            act=Poison(toxic=Poisoning.SLOW_CLOSE, direction=DOWN, at=at, after=LATE),
            row="X4",
            authority=RAN,
            no_twin=NO_OTHER_SIDE,
        )


def _downs() -> Iterator[Fault]:
    kind = Poisoning.DOWN
    yield Fault(
        id="down-connect",
        says="nobody listens any more",
        act=Poison(toxic=kind, at=Moment.CONNECT),
        row="X5",
        authority="no byte of the request was sent",
        no_twin=SAFE_ALONE,
    )
    yield Fault(
        id="down-received",
        says="before EXECUTE, when the request has arrived, every connection is closed",
        act=Poison(toxic=kind, at=Moment.RECEIVED),
        row="X1",
        authority=RFC_RETRY,
        twin="down-executed",
    )
    yield Fault(
        id="down-executed",
        says="after EXECUTE every connection is closed",
        act=Poison(toxic=kind, at=Moment.EXECUTED),
        row="X2",
        authority=RFC_RETRY,
        twin="down-received",
    )
    yield _in_body("down-body", Poison(toxic=kind, at=Moment.BODY))


def _in_body(id_: str, act: Poison) -> Fault:
    does = "goes silent" if act.toxic is Poisoning.TIMEOUT and act.after is None else "is cut"
    return Fault(
        id=id_,
        says=f"the reply {does} in the middle of its body",
        act=act,
        row="X3",
        authority=RAN,
        no_twin=NO_OTHER_SIDE,
    )
