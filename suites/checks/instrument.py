"""Whether the instrument did what it says: each strike has a witness who could see it, and the ledger's facts of a
sending are those that the table of truth gives for the fault.
"""

from collections.abc import Iterator

from fake_router.entries import Opened, Witness
from faults.acts import (
    Act,
    DropSyn,
    End,
    Fragment,
    HoldPool,
    Misresolve,
    NeverAccept,
    Refuse,
    Unreachable,
)
from faults.answer import Answer
from faults.catalogue import fault_named
from faults.disturbance import Disturb
from faults.poison import Poison
from faults.truth import Truth, may_take_less
from suites.attempts import Attempt, IdleStrike, Strike
from suites.checks.words import name_of
from suites.run import Run


def doubts(run: Run, attempt: Attempt) -> Iterator[str]:
    """Why the strikes of one attempt prove less than they say; nothing where all is well."""
    where = name_of(attempt)
    if attempt.dialled_refused is not None and not attempt.strikes:
        yield f"{where}: a dial was seen at a listener that no fault held"
    for strike in attempt.strikes:
        act = fault_named(strike.fault).act
        if strike.struck is None:
            yield f"{where}: {strike.fault!r} was about to strike, and nothing says that it did"
            continue
        if strike.witness not in _witnesses(act):
            yield f"{where}: {strike.witness} cannot witness {strike.fault!r}"
        if strike.witness is Witness.EXCLUSION and not _excluded(run, strike):
            yield f"{where}: a refused connect is proved by exclusion only where no listener saw a connection"
        if attempt.dialled_refused is not None and attempt.dialled_refused is not _refuses(act):
            yield f"{where}: the dial was {'refused' if attempt.dialled_refused else 'dropped'} under {strike.fault!r}"
        if isinstance(act, Poison) and act.delays_the_end and not _ended_late(run, attempt):
            yield f"{where}: its caller waited for no end that {strike.fault!r} held back"
        if strike.lost_bytes and not attempt.exactly_one:
            yield f"{where}: several connections were struck, and nobody saw which carried it (packets would tell)"
        if _too_late(act, attempt, strike):
            yield f"{where}: the subject had left before {strike.fault!r} struck"
    if attempt.struck and attempt.body_came != 0 and (lie := _lie(attempt)):  # without a body nothing can be served
        yield f"{where}: {lie}"


def idle_doubts(idle: IdleStrike) -> Iterator[str]:
    """Why the strike of a connection that lay idle proves less than it says."""
    strike = idle.strike
    where = f"connection {idle.connection} on upstream {idle.upstream}"
    if strike.struck is None:
        yield f"{where}: {strike.fault!r} was about to strike, and nothing says that it did"
    elif strike.witness not in _witnesses(fault_named(strike.fault).act):
        yield f"{where}: {strike.witness} cannot witness {strike.fault!r}"


def _refuses(act: Act) -> bool:
    return isinstance(act, Refuse) or (isinstance(act, Poison) and act.strikes_dials)


def _witnesses(act: Act) -> frozenset[Witness]:
    if isinstance(act, Refuse):
        return frozenset({Witness.PACKET, Witness.EXCLUSION})
    if isinstance(act, Poison):
        return _poison_witnesses(act)
    if isinstance(act, Disturb):
        return frozenset({Witness.ENGINE})
    if isinstance(act, HoldPool):
        return frozenset({Witness.HELD})
    if isinstance(act, Misresolve):
        return frozenset({Witness.QUESTION})
    if isinstance(act, Unreachable):
        return frozenset({Witness.PACKET})
    if isinstance(act, DropSyn):
        return frozenset({Witness.PACKET, Witness.SK_DROPS})
    return frozenset({Witness.QUEUE if isinstance(act, NeverAccept) else Witness.ACT})


def _poison_witnesses(act: Poison) -> frozenset[Witness]:
    """What loses bytes is counted by Toxiproxy; what ends connections is seen where they end."""
    if act.strikes_dials:
        return frozenset({Witness.PACKET, Witness.EXCLUSION})
    return frozenset({Witness.LOST if act.loses_bytes else Witness.ENDED})


def _ended_late(run: Run, attempt: Attempt) -> bool:
    """Its caller had to wait for half of the shortest time-out behind the last byte of the answer. Without the toxic
    the end comes with it; a machine that stalls for so long has its run made again.
    """
    answered = next((entry.at_ns for entry in run.ledger if entry.seq == attempt.answered), None)
    ended = next((one.ended_at_ns for one in run.history if one.operation == attempt.operation), None)
    return answered is not None and ended is not None and ended - answered >= run.shortest_timeout_ms * 500_000


def _excluded(run: Run, strike: Strike) -> bool:
    """Every upstream refused, and none of them saw a connection until the strike was closed."""
    refusing = {listener.upstream for listener in run.plan.listeners if listener.fault == strike.fault}
    every = None in refusing or refusing >= set(range(run.plan.upstreams))
    until = strike.struck or strike.striking
    return every and not any(isinstance(entry, Opened) and strike.striking < entry.seq < until for entry in run.ledger)


def _too_late(act: Act, attempt: Attempt, strike: Strike) -> bool:
    """A fault that takes no time shows the subject nothing if its connection was gone. Silence is shown by waiting."""
    prompt = isinstance(act, End | Fragment) or (isinstance(act, Answer) and not act.lasts)
    return prompt and attempt.peer_left is not None and attempt.peer_left < strike.striking


def _lie(attempt: Attempt) -> str | None:
    """How the facts differ from the truth of the last fault: the one that had the last word on the sending."""
    fault = fault_named(attempt.strikes[-1].fault)
    facts = Truth(
        received=attempt.received is not None,
        accepted=attempt.accepted is not None,
        executed=attempt.executed is not None,
        replied=attempt.replied,
    )
    truth = fault.truth
    same = (facts.received, facts.accepted, facts.executed) == (truth.received, truth.accepted, truth.executed)
    # To a subject that has left, the kernel takes less than all.
    replied = facts.replied == truth.replied or (may_take_less(fault.act) and facts.replied < truth.replied)
    if same and replied:
        return None
    return f"{fault.id!r} means {_facts_of(truth)}, the ledger says {_facts_of(facts)}"


def _facts_of(truth: Truth) -> str:
    words = (("received", truth.received), ("accepted", truth.accepted), ("executed", truth.executed))
    return (
        ", ".join(f"{'' if fact else 'not '}{word}" for word, fact in words) + f", replied {truth.replied.name.lower()}"
    )
