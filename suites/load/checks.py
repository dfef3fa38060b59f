"""What must hold under load: pure functions of what was found. The ledgers of the routers are the truth."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fake_router.service import Engine, Held, Instant
from suites.findings import Claim, Finding, Verdict
from suites.load.ended import Ended
from suites.load.flat import flat
from suites.load.found import Found
from suites.load.ramp import missing_of
from suites.run import Promise

SHOWN = 5  # numbers of operations in a message
_Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadCheck:
    """One property. judge: what it says of a load; nothing where there was nothing to judge."""

    name: str
    invariant: str
    judge: Callable[[Found], list[Finding]]


def _said(check: str, verdict: Verdict, says: str) -> Finding:
    return Finding(check=check, claim=Claim.MUST, verdict=verdict, says=says)


def _none_of(check: str, numbers: NDArray[np.uint32], says: str, fine: str, bad: Verdict = Verdict.FAIL) -> Finding:
    """PASS where there is none of these operations."""
    if not len(numbers):
        return _said(check, Verdict.PASS, fine)
    shown = ", ".join(str(number) for number in numbers[:SHOWN])
    more = ", ..." if len(numbers) > SHOWN else ""
    return _said(check, bad, f"{len(numbers):,} {says} (operations {shown}{more})")


def _numbers(found: Found, chosen: _Mask) -> NDArray[np.uint32]:
    return np.sort(found.tally.records["number"][chosen]).astype(np.uint32)


def _ended(found: Found, *ends: Ended) -> _Mask:
    return np.isin(found.tally.records["ended"], np.array(ends, "u1"))


def _executions(found: Found) -> NDArray[np.uint32]:
    """Of each operation in the tally, in its order."""
    executions: NDArray[np.uint32] = found.account.executions[found.tally.records["number"]]
    return executions


def _struck(found: Found) -> _Mask:
    struck: _Mask = found.account.struck[found.tally.records["number"]]
    return struck


def _at_most_once(found: Found) -> list[Finding]:
    twice = np.flatnonzero(found.account.executions > 1).astype(np.uint32)
    fine = f"{found.account.executed:,} executions, each of another operation"
    return [_none_of("at-most-once", twice, "were executed more than once", fine)]


def _none_lost(found: Found) -> list[Finding]:
    without = ~_ended(found, Ended.OK, Ended.GIVEN_UP) & (_executions(found) > 0) & ~_struck(found)
    fine = "whoever was executed, and met no fault, has its result"
    return [_none_of("none-lost", _numbers(found, without), "were executed, and their callers lack the result", fine)]


def _answered(found: Found) -> list[Finding]:
    silent = _numbers(found, _ended(found, Ended.NO_ANSWER))
    bad = Verdict.UNKNOWN if found.promises is Promise.TRANSPARENT else Verdict.FAIL
    says = f"had no answer within {found.load.give_up_s:g} s"
    return [_none_of("answered", silent, says, "every operation has its outcome", bad)]


def _honest(found: Found) -> list[Finding]:
    executed = _executions(found) > 0
    lied = _numbers(found, _ended(found, Ended.NOT_EXECUTED) & executed)
    invented = _numbers(found, _ended(found, Ended.OK) & ~executed)
    return [
        _none_of("honest-failure", lied, 'were executed, and their callers told "not executed"', "no failure lies"),
        _none_of("honest-success", invented, "are successes that no router executed", "no success is invented"),
    ]


def _no_garbage(found: Found) -> list[Finding]:
    garbage = _ended(found, Ended.GARBAGE) & ~found.account.unprovable[found.tally.records["number"]]
    if found.promises is Promise.TRANSPARENT:
        garbage &= ~_struck(found)  # a struck one is what its router sent
    fine = "every success holds the result of its own operation"
    return [_none_of("own-result", _numbers(found, garbage), "are successes without the operation's result", fine)]


def _accounted(found: Found) -> list[Finding]:
    """The instrument: callers and ledgers speak of the same operations."""
    records, account, wrong = found.tally.records, found.account, []
    if not found.settled:
        wrong.append("the routers were not at rest when their ledgers were read: more may have come after that")
    numbers, times = np.unique(records["number"], return_counts=True)
    if (again := int(np.sum(times > 1))) > 0:
        wrong.append(f"{again:,} operations have more than one outcome")
    if account.beyond:
        wrong.append(f"{account.beyond:,} operations at the routers were asked for by no caller of ours")
    if account.unnamed:
        wrong.append(f"{account.unnamed:,} exchanges carry no operation: they may be any that was asked for")
    silent = np.ones(len(account.attempts), np.bool_)
    silent[0] = False
    silent[numbers] = False
    if (unsaid := int(np.sum(silent & (account.attempts > 0)))) > 0:
        wrong.append(f"{unsaid:,} operations came to the routers, and no caller tells their end")
    for what, total, each in (
        ("received", account.received, account.attempts),
        ("executed", account.executed, account.executions),
    ):
        if (known := int(each.sum())) != total and not account.beyond:
            wrong.append(f"the routers {what} {total:,} times, {known:,} of them for an operation that is known")
    if wrong:
        return [_said("accounted", Verdict.UNKNOWN, "; ".join(wrong))]
    return [_said("accounted", Verdict.PASS, f"{len(numbers):,} operations, each with its outcome and its ledger")]


def _real(found: Found) -> list[Finding]:
    """What was to happen did; a load that was none proves nothing."""
    load, missing = found.load, list(found.lost)
    if not len(found.tally.records):
        missing.append("no operation was asked for")
    if found.most_in_flight < load.in_flight:
        missing.append(f"{found.most_in_flight:,} were in flight at most; expected {load.in_flight:,}")
    match load.service:
        case Held():
            if found.most_waiting < load.in_flight:
                missing.append(
                    f"{found.most_waiting:,} of {load.in_flight:,} waited at the routers together: the subject passed "
                    "no more of them on"
                )
        case Engine(capacity=capacity):
            if load.in_flight > capacity and found.most_waiting <= capacity:
                missing.append(f"{found.most_waiting:,} waited at an engine that serves {capacity:,}: nothing queued")
        case Instant():
            pass
    if load.mix is not None and not found.account.struck.any():
        missing.append("no fault struck")
    missing += missing_of(found)
    if not found.overlaid:
        missing.append("the toxics that were laid over it were gone at the end")
    if missing:
        return [_said("load-was-real", Verdict.UNKNOWN, "; ".join(missing))]
    return [_said("load-was-real", Verdict.PASS, f"{found.most_in_flight:,} were in flight together")]


def _survives(found: Found) -> list[Finding]:
    if found.died:
        return [_said("survives", Verdict.FAIL, "; ".join(found.died))]
    return [_said("survives", Verdict.PASS, "every process of the subject lived to the end")]


CHECKS: tuple[LoadCheck, ...] = (
    LoadCheck(name="at-most-once", invariant="No operation is executed twice.", judge=_at_most_once),
    LoadCheck(name="none-lost", invariant="What was executed and met no fault reaches its caller.", judge=_none_lost),
    LoadCheck(name="answered", invariant="Every operation gets an answer.", judge=_answered),
    LoadCheck(
        name="honest", invariant="What a caller is told of its operation is what the ledgers say.", judge=_honest
    ),
    LoadCheck(name="own-result", invariant="A success holds the result of its own operation.", judge=_no_garbage),
    LoadCheck(name="accounted", invariant="Callers and ledgers know the same operations.", judge=_accounted),
    LoadCheck(name="load-was-real", invariant="As much was in flight as was asked for.", judge=_real),
    LoadCheck(name="flat", invariant="Memory and sockets do not grow while a load lasts.", judge=flat),
    LoadCheck(name="survives", invariant="The subject lives through it.", judge=_survives),
)


def judged(found: Found) -> tuple[Finding, ...]:
    """What all checks say. A check that crashes has shown nothing: neither PASS nor FAIL."""
    findings: list[Finding] = []
    for check in CHECKS:
        try:
            findings += check.judge(found)
        except Exception as error:  # noqa: BLE001  # the other checks still have their say
            findings.append(_said(check.name, Verdict.UNKNOWN, f"the check crashed: {error!r}"))
    return tuple(findings)
