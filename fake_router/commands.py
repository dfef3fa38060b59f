"""What an exchange asks of whoever performs it: a closed union, each command one act on socket, ledger or clock."""

from dataclasses import dataclass

from faults.acts import ReplyAct
from faults.vocabulary import Ending


@dataclass(frozen=True, slots=True, kw_only=True)
class Execute:
    """Take the work on and do it, in one step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """Ask for the work to be taken on, and come back with ADMITTED."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Serve:
    """Let service time pass, and come back with SERVED."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leave:
    """Wait for neither any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenStrike:
    """Say in the ledger that a fault is about to strike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseStrike:
    """Say in the ledger that it has struck."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Come back with DELAY_OVER after that many read timeouts."""

    delay: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Send:
    """Hand the reply's parts to the kernel, as far as its cut, and come back with SENT."""

    act: ReplyAct


@dataclass(frozen=True, slots=True, kw_only=True)
class AbandonReply:
    """Say in the ledger how much of the reply the kernel took before the peer went."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndConnection:
    """End the connection in that way."""

    ending: Ending


Command = Execute | Queue | Serve | Leave | OpenStrike | CloseStrike | Wait | Send | AbandonReply | EndConnection
Commands = tuple[Command, ...]
