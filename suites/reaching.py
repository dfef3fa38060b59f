"""Whether a subject reaches its router at all: found out once. Of one that runs already before its first run; of others
as soon as a run is over in which nothing came, for starting one takes its time.
"""

from collections.abc import Collection, Sequence

from fake_router.entries import AnyEntry, Opened, Probed, Received, Rejected
from suites.history import Outcome
from suites.numbers import Numbers
from suites.settling import settle
from suites.stage import Stage
from suites.subject import Layered, SubjectError, SubjectSpec

_CALLS = 2  # its pool may hold a connection to whoever was at that address before
_SHOWN_BYTES = 200


def has_come(entries: Sequence[AnyEntry], operations: Collection[int]) -> bool:
    """One of these operations was received."""
    return any(isinstance(entry, Received) and entry.operation in operations for entry in entries)


async def require_reaching(stage: Stage, numbers: Numbers) -> None:
    """A healthy operation is received by the router; or the subject has died of it, which is judged as a death of one
    that was started here. Raises SubjectError, with what came instead: somebody else's mistake would look like the
    subject's at every fault.
    """
    spec = stage.subject.spec
    for number in numbers.take(_CALLS):
        since = len(stage.entries())
        outcome = await stage.instance.call(spec.plain, number, spec.ceiling_ms)
        if not has_come(stage.entries(since=since), (number,)):
            await settle(stage, spec)  # it may come late; and its death is told late
        entries = stage.entries(since=since)
        if has_come(entries, (number,)) or (stage.instance.died() is not None and not spec.standing):
            return
    where = ", ".join(f"{host}:{port}" for host, port in spec.listen or [(spec.host, port) for port in stage.ports])
    raise SubjectError(
        f"{spec.facts.name} was asked for a healthy operation, and it did not reach its router at {where}: "
        f"{_came(entries, spec)}.{_passed(stage, number)} Its caller got {_told(outcome)}"
    )


def _passed(stage: Stage, operation: int) -> str:
    """How far it came, where the subject is two."""
    if not isinstance(stage.instance, Layered):
        return ""
    sent = stage.instance.passed()[operation]
    return f" The first of them sent it {sent} time{'' if sent == 1 else 's'} to the second."


def _came(entries: Sequence[AnyEntry], spec: SubjectSpec) -> str:
    """What there was of it, and what may be the reason."""
    for entry in entries:
        match entry:
            case Received():
                return "a request came without the operation's number; expected the prompt as it was"
            case Rejected(status=status, why=why):
                plain = status == 400 and not spec.always_tls
                hint = " (where it speaks TLS to its router, `listen` says https://)" if plain else ""
                return f"what came was turned down: {why}{hint}"
            case Probed(method=method, target=target):
                return f"what came was {method} {target}; expected POST {spec.apis[0].path}"
            case _:
                continue
    if not any(isinstance(entry, Opened) for entry in entries):
        return "nobody connected; expected that it was told to find its router there, and lets its caller in"
    if spec.always_tls:
        return "it connected, and no handshake was made; expected that it speaks TLS to it, and trusts its CA"
    return "it connected, and nothing came; expected a request"


def _told(outcome: Outcome) -> str:
    body = outcome.body[:_SHOWN_BYTES].decode(errors="replace")
    return outcome.says or "no answer" if outcome.status is None else f"{outcome.status} {body!r}"
