"""A ramp: within one load, in flight goes up in stairs; each lasts as long as the others."""

from collections.abc import Sequence
from dataclasses import dataclass

from suites.load.found import Found, Role, Sample, used_by
from suites.load.stairs import stairs_up_to

_SETTLED = 0.25  # of a stair has gone by when it is looked at: connections are made, and those that begin are no burst


@dataclass(frozen=True, slots=True, kw_only=True)
class Stair:
    """What was seen while so many were in flight. samples: in the order in which they were taken; at least two."""

    in_flight: int
    samples: Sequence[Sample]

    @property
    def seconds(self) -> float:
        """From the first look to the last."""
        return (self.samples[-1].at_ns - self.samples[0].at_ns) / 1e9

    @property
    def operations(self) -> int:
        """That ended meanwhile."""
        return self.samples[-1].done - self.samples[0].done

    def cpu_ms(self, found: Found, role: Role) -> float | None:
        """Of the processes of that role, for each operation that ended; None where there was none."""
        if not self.operations or not any(member.role is role for member in found.processes):
            return None
        first, last = (used_by(found, role, sample) for sample in (self.samples[0], self.samples[-1]))
        return 1000 * sum(max(0.0, b.cpu_s - a.cpu_s) for a, b in zip(first, last, strict=True)) / self.operations

    def resident_bytes(self, found: Found) -> int:
        """The most that the subject held."""
        each = (used_by(found, Role.SUBJECT, sample) for sample in self.samples)
        return max(sum(use.resident_bytes for use in uses) for uses in each)


def stairs_of(found: Found) -> list[Stair]:
    """Those of a ramp that were looked at twice or more; of a load without one there is none."""
    load = found.load
    if load.stairs == 1 or load.for_s is None or not found.samples:
        return []
    each_s, begin_ns = load.for_s / load.stairs, found.samples[0].at_ns
    stairs = []
    for nth, in_flight in enumerate(stairs_up_to(load.in_flight, load.stairs)):
        low_s, high_s = (nth + _SETTLED) * each_s, (nth + 1) * each_s
        samples = [sample for sample in found.samples if low_s <= (sample.at_ns - begin_ns) / 1e9 < high_s]
        if len(samples) > 1:
            stairs.append(Stair(in_flight=in_flight, samples=samples))
    return stairs


def missing_of(found: Found) -> list[str]:
    """Which stairs were none."""
    if found.load.stairs == 1:
        return []
    seen = {stair.in_flight: max(sample.in_flight for sample in stair.samples) for stair in stairs_of(found)}
    wanted = stairs_up_to(found.load.in_flight, found.load.stairs)
    return [
        f"of the stair with {count:,} in flight "
        + (f"{seen[count]:,} were seen at most" if count in seen else "there were no two looks: --for a longer time")
        for count in wanted
        if seen.get(count, 0) < count
    ]
