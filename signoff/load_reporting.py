"""From what a load showed to its report. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import cast

import numpy as np

from signoff.load_report import Latency, LoadFinding, Moment, Processes, ProcessUse, Stair, Step, VerdictName
from suites.findings import Finding, Verdict, worst
from suites.load.checks import judged
from suites.load.ended import Ended
from suites.load.found import Found, Role, Sample, Use, used_by
from suites.load.ramp import Stair as Climbed
from suites.load.ramp import stairs_of

_NS = 1e9
_SAID = {
    Ended.NOT_EXECUTED: "not executed",
    Ended.UNKNOWN: "may have run",
    Ended.GARBAGE: "garbage",
    Ended.NO_ANSWER: "no answer",
    Ended.GIVEN_UP: "given up",
}


def step_of(found: Found) -> Step:
    """The report of one load, judged."""
    records = found.tally.records
    good = records["ended"] == Ended.OK
    seconds = seconds_of(found)
    known = any(member.role is Role.SUBJECT for member in found.processes)
    findings = judged(found)
    return Step(
        in_flight=found.load.in_flight,
        most_in_flight=found.most_in_flight,
        most_waiting=found.most_waiting,
        operations=len(records),
        succeeded=int(good.sum()),
        failures=failures_of(found),
        seconds=seconds,
        per_second=len(records) / seconds if seconds else 0.0,
        latency_ms=_latency(found),
        cpu_ms_per_operation=_cpu_ms(found, Role.SUBJECT),
        caller_cpu_ms_per_operation=_cpu_ms(found, Role.CALLER),
        router_cpu_ms_per_operation=_cpu_ms(found, Role.ROUTER),
        resident_bytes_per_operation=_resident(found) if known and found.most_in_flight else None,
        sockets=max((_total(found, sample).sockets for sample in found.samples), default=0) if known else None,
        attempts=found.account.received,
        executions=found.account.executed,
        struck=int(found.account.struck.sum()),
        strikes=dict(found.account.faults),
        counts=dict(found.counts),
        layout=Processes(
            routers=found.layout.routers,
            instances=found.layout.instances,
            callers=found.layout.callers,
            sources=found.layout.sources,
        ),
        processes=list(_processes(found)),
        moments=list(_moments(found)),
        stairs=[_stair(found, stair) for stair in stairs_of(found)],
        findings=[_written(finding) for finding in findings],
        verdict=_name(worst(findings)),
    )


def _stair(found: Found, stair: Climbed) -> Stair:
    known = any(member.role is Role.SUBJECT for member in found.processes)
    held = max(0, stair.resident_bytes(found) - _idle(found, Role.SUBJECT))
    return Stair(
        in_flight=stair.in_flight,
        operations=stair.operations,
        seconds=stair.seconds,
        per_second=stair.operations / stair.seconds,
        cpu_ms_per_operation=stair.cpu_ms(found, Role.SUBJECT),
        caller_cpu_ms_per_operation=stair.cpu_ms(found, Role.CALLER),
        router_cpu_ms_per_operation=stair.cpu_ms(found, Role.ROUTER),
        resident_bytes_per_operation=held / stair.in_flight if known else None,
    )


def worst_of(verdicts: Iterable[VerdictName]) -> VerdictName:
    """The worst of them; none at all proves nothing."""
    return _name(max((Verdict[verdict] for verdict in verdicts), default=Verdict.UNKNOWN))


def failures_of(found: Found) -> dict[str, int]:
    """How many operations failed in which way, the commonest first."""
    records = found.tally.records
    bad = records[records["ended"] != Ended.OK]
    kinds = Counter(zip(bad["ended"].tolist(), bad["why"].tolist(), strict=True))
    return {
        f"{_SAID[Ended(ended)]}: {found.tally.whys[why - 1] if why else 'unsaid'}": count
        for (ended, why), count in kinds.most_common()
    }


def seconds_of(found: Found) -> float:
    """From the first that was invoked to the last outcome."""
    records = found.tally.records
    return float(records["ended_ns"].max() - records["began_ns"].min()) / _NS if len(records) else 0.0


def _latency(found: Found) -> Latency:
    records = found.tally.records[found.tally.records["ended"] == Ended.OK]
    if not len(records):
        return Latency()
    took = (records["ended_ns"] - records["began_ns"]) / 1e6
    p50, p90, p99 = (float(value) for value in np.percentile(took, (50, 90, 99)))
    return Latency(p50=p50, p90=p90, p99=p99, max=float(took.max()))


def _cpu_ms(found: Found, role: Role) -> float | None:
    """For each operation that has ended, between the first sample and the last."""
    count = len(found.tally.records)
    if not count or not found.samples or not any(member.role is role for member in found.processes):
        return None
    first, last = (used_by(found, role, sample) for sample in (found.samples[0], found.samples[-1]))
    used_s = sum(max(0.0, end.cpu_s - begin.cpu_s) for begin, end in zip(first, last, strict=True))
    return 1000 * used_s / count


def _total(found: Found, sample: Sample) -> Use:
    """Of all processes of the subject."""
    uses = used_by(found, Role.SUBJECT, sample)
    return Use(
        cpu_s=sum(use.cpu_s for use in uses),
        resident_bytes=sum(use.resident_bytes for use in uses),
        sockets=sum(use.sockets for use in uses),
    )


def _resident(found: Found) -> float:
    """What the subject held at most beyond what it held before the first connection, for each operation in flight."""
    held = max((_total(found, sample).resident_bytes for sample in found.samples), default=0)
    return max(0, held - _idle(found, Role.SUBJECT)) / found.most_in_flight


def _idle(found: Found, role: Role) -> int:
    uses = zip(found.processes, found.idle, strict=False)  # of callers none is known
    return sum(use.resident_bytes for member, use in uses if member.role is role)


def _processes(found: Found) -> Iterable[ProcessUse]:
    for place, member in enumerate(found.processes):
        uses = [sample.uses[place] for sample in found.samples]
        yield ProcessUse(
            role=member.role.value,
            nth=member.nth,
            cpu_s=max(0.0, uses[-1].cpu_s - uses[0].cpu_s) if uses else 0.0,
            resident_bytes=max((use.resident_bytes for use in uses), default=0),
            sockets=max((use.sockets for use in uses), default=0),
        )


def _moments(found: Found) -> Iterable[Moment]:
    begin_ns = found.samples[0].at_ns if found.samples else 0
    for sample in thinned(found.samples):
        use = _total(found, sample)
        yield Moment(
            at_s=(sample.at_ns - begin_ns) / _NS,
            in_flight=sample.in_flight,
            done=sample.done,
            failed=sample.failed,
            cpu_s=use.cpu_s,
            resident_bytes=use.resident_bytes,
            sockets=use.sockets,
        )


def thinned(samples: Sequence[Sample], most: int = 600) -> Sequence[Sample]:
    """At most so many and the last of them, evenly chosen: a page need not hold more points than it has columns."""
    if len(samples) <= most:
        return samples
    stride = -(-len(samples) // most)
    return [*samples[:-1:stride], samples[-1]]


def _written(finding: Finding) -> LoadFinding:
    name = _name(finding.verdict)
    return LoadFinding(check=finding.check, verdict=name, says=finding.says, claim=finding.claim.value)


def _name(verdict: Verdict) -> VerdictName:
    return cast(VerdictName, verdict.name)
