"""Literal loads for tests of what is said of them."""

from collections.abc import Sequence

import numpy as np

from suites.load.asked import Load
from suites.load.ended import RECORD, Ended, Tally
from suites.load.found import Account, Found, Member, Role, Sample, Use
from suites.load.limits import Layout
from suites.run import Promise

LAYOUT = Layout(routers=1, instances=1, callers=1, sources=1, connecting=16)
_MS = 1_000_000


def tally(*ends: Ended, why: str = "") -> Tally:
    """Operation 1 ended in the first of these ways, after 1 ms; the second in the second way, after 2 ms; and so on."""
    rows = [(n, end, 1 if why and end else 0, 0, n * _MS) for n, end in enumerate(ends, 1)]
    return Tally(records=np.array(rows, RECORD), whys=(why,) if why else ())


def account(
    executions: Sequence[int],
    attempts: Sequence[int] | None = None,
    struck: Sequence[int] = (),
    unprovable: Sequence[int] = (),
) -> Account:
    """Of operations 1, 2, ... so many executions and attempts each; those numbers were struck, and these of them sent
    what nobody can prove wrong.
    """
    sent = list(executions if attempts is None else attempts)
    hit = np.zeros(len(executions) + 1, np.bool_)
    hit[list(struck)] = True
    unproved = np.zeros(len(executions) + 1, np.bool_)
    unproved[list(unprovable)] = True
    return Account(
        received=sum(sent),
        executed=sum(executions),
        answered=sum(sent),
        attempts=np.array([0, *sent], np.uint32),
        executions=np.array([0, *executions], np.uint32),
        struck=hit,
        unprovable=unproved,
    )


def found(
    told: Tally,
    said: Account,
    *,
    load: Load | None = None,
    promises: Promise = Promise.ANSWERING,
    most_in_flight: int | None = None,
    most_waiting: int = 0,
    samples: Sequence[Sample] = (),
    died: tuple[str, ...] = (),
    settled: bool = True,
) -> Found:
    """A load that showed this."""
    count = max(1, len(told.records))
    load = load or Load(in_flight=count, operations=count)
    return Found(
        load=load,
        promises=promises,
        layout=LAYOUT,
        tally=told,
        account=said,
        processes=(Member(role=Role.SUBJECT, nth=0), Member(role=Role.ROUTER, nth=0), Member(role=Role.CALLER, nth=0)),
        samples=tuple(samples),
        idle=(Use(cpu_s=0.0, resident_bytes=samples[0].uses[0].resident_bytes if samples else 0, sockets=0),),
        most_in_flight=load.in_flight if most_in_flight is None else most_in_flight,
        most_waiting=most_waiting,
        died=died,
        settled=settled,
    )


def sample(
    at_s: float, *, done: int = 0, in_flight: int = 0, cpu_s: float = 0.0, resident: int = 0, sockets: int = 0
) -> Sample:
    """At that moment the subject had used so much; router and caller nothing."""
    nothing = Use(cpu_s=0.0, resident_bytes=0, sockets=0)
    use = Use(cpu_s=cpu_s, resident_bytes=resident, sockets=sockets)
    return Sample(at_ns=int(at_s * 1e9), in_flight=in_flight, done=done, failed=0, uses=(use, nothing, nothing))
