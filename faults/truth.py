"""The table of truth: what has really happened at the router when an act is done, and what the peer sees of it.

Two facts for each act that no forwarder can put together: `truth` is the router's side of EXECUTE, `sight`
the forwarder's side of the socket.
"""

from dataclasses import dataclass
from typing import assert_never

from faults.acts import Act, Answer, DropSyn, End, Hang, LeaveUnread, Refuse, ResetAtAccept, ResetUnread
from faults.vocabulary import Ending, Replied, Side, Sight


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """The four separate facts of an exchange: the request was read, taken on, done, and answered."""

    received: bool
    accepted: bool
    executed: bool
    replied: Replied


NO_EXCHANGE = Truth(received=False, accepted=False, executed=False, replied=Replied.NOTHING)


def truth_of(act: Act) -> Truth:
    """What the ledger must say of a sending on which the act struck."""
    match act:
        case Refuse() | DropSyn() | ResetAtAccept() | ResetUnread():
            return NO_EXCHANGE
        case LeaveUnread(serve_after=None):
            return NO_EXCHANGE
        case LeaveUnread():
            return Truth(received=True, accepted=True, executed=True, replied=Replied.WHOLE)
        case Hang(side=side) | End(side=side):
            return _struck(side, Replied.NOTHING)
        case Answer(side=side, cut=cut):
            return _struck(side, Replied.WHOLE if cut is None else Replied.PART)
        case _:
            assert_never(act)


def _struck(side: Side, replied: Replied) -> Truth:
    executed = side is Side.AFTER
    return Truth(received=True, accepted=executed, executed=executed, replied=replied)


def sight_of(act: Act) -> Sight:
    """What a forwarder sees whose read timeout is the one that multiples in the act refer to.

    A reply beyond the read timeout is silence to it; the reply itself reaches nobody.
    """
    match act:
        case Refuse():
            return Sight.REFUSED
        case DropSyn():
            return Sight.CONNECT_TIMEOUT
        case ResetAtAccept() | ResetUnread():
            return Sight.RESET
        case LeaveUnread(serve_after=None) | Hang():
            return Sight.SILENCE
        case LeaveUnread(serve_after=float() as late):
            return Sight.SILENCE if late >= 1 else Sight.WHOLE
        case End(ending=ending):
            return Sight.RESET if ending is Ending.RESET else Sight.FIN
        case Answer():
            return _sight_of_answer(act)
        case _:
            assert_never(act)


def _sight_of_answer(act: Answer) -> Sight:
    if act.delay is not None and act.delay >= 1:
        return Sight.SILENCE
    if act.cut is not None:
        return Sight.CUT
    return Sight.WHOLE if act.status < 300 else Sight.STATUS


def shows_its_cause(act: Act) -> bool:
    """The forwarder certainly had this evidence, so its decision may be judged.

    A reset at accept may meet it before or after it wrote its first byte, and the router cannot know which
    (measured on nginx: retried when no byte had been seen, not retried when one had): that act only tells.
    """
    return not isinstance(act, ResetAtAccept)
