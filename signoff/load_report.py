"""report.json of a load: what was in flight, what came of it, and what it took. Documented in docs/load.md."""

from collections.abc import Iterator
from typing import Literal

import msgspec

SCHEMA = 1

VerdictName = Literal["PASS", "UNKNOWN", "FAIL"]


class LoadFinding(msgspec.Struct, frozen=True, kw_only=True):
    """What one check says of one load."""

    check: str
    verdict: VerdictName
    says: str
    claim: str = "must"


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """What the machine allows."""

    files: int
    backlog: int
    packets: int
    ports: int
    cores: int
    memory_bytes: int


class Processes(msgspec.Struct, frozen=True, kw_only=True):
    """How the load was laid out."""

    routers: int
    instances: int
    callers: int
    sources: int


class Latency(msgspec.Struct, frozen=True, kw_only=True):
    """Of operations that succeeded, from invocation to result, in milliseconds; null where none did."""

    p50: float | None = None
    p90: float | None = None
    p99: float | None = None
    max: float | None = None


class ProcessUse(msgspec.Struct, frozen=True, kw_only=True):
    """What one process took between the word to begin and the last outcome; the most that it held at a time."""

    role: str
    nth: int
    cpu_s: float
    resident_bytes: int
    sockets: int


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """One look, so many seconds after the word to begin. cpu_s, resident_bytes, sockets: of the subject."""

    at_s: float
    in_flight: int
    done: int
    failed: int
    cpu_s: float
    resident_bytes: int
    sockets: int


class Stair(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a ramp, from when a quarter of its time had gone by. All as of a Step."""

    in_flight: int
    operations: int
    seconds: float
    per_second: float
    cpu_ms_per_operation: float | None
    caller_cpu_ms_per_operation: float | None
    router_cpu_ms_per_operation: float | None
    resident_bytes_per_operation: float | None


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One load. Times of the subject's processes are summed. cpu_ms_per_operation, resident_bytes_per_operation,
    sockets: of the subject; null where its processes are not known, and where no operation has ended.
    caller_cpu_ms_per_operation: of our callers.
    """

    in_flight: int
    most_in_flight: int
    most_waiting: int
    operations: int
    succeeded: int
    failures: dict[str, int]
    seconds: float
    per_second: float
    latency_ms: Latency
    cpu_ms_per_operation: float | None
    caller_cpu_ms_per_operation: float | None
    router_cpu_ms_per_operation: float | None
    resident_bytes_per_operation: float | None
    sockets: int | None
    attempts: int
    executions: int
    struck: int
    strikes: dict[str, int]
    counts: dict[str, int]
    layout: Processes
    processes: list[ProcessUse]
    moments: list[Moment]
    stairs: list[Stair] = []
    findings: list[LoadFinding]
    verdict: VerdictName


class LoadSubject(msgspec.Struct, frozen=True, kw_only=True):
    """Who was under load."""

    name: str
    version: str
    promises: str


class LoadReport(msgspec.Struct, frozen=True, kw_only=True):
    """All of one command. left_out: faults of the mix that no operation can be given: who draws one meets none.
    partial: why it is not whole; then no verdict is claimed.
    """

    schema: int = SCHEMA
    tool: str
    subject: LoadSubject
    mode: str
    callers: str
    seed: int
    for_s: float | None
    ramp: int = 1
    faults: str | None
    left_out: list[str] = []
    under: list[dict[str, str | int]]
    machine: Machine
    steps: list[Step]
    verdict: VerdictName
    partial: str = ""

    @property
    def asked(self) -> tuple[str, ...]:
        """What was asked for, in the same words for every face."""
        return (
            self.mode,
            f"{self.callers} callers",
            f"seed {self.seed}",
            *((f"for {self.for_s:g} s",) if self.for_s else ()),
            *((f"a ramp of {self.ramp} stairs",) if self.ramp > 1 else ()),
            *((f"faults: {self.faults}",) if self.faults else ()),
            *((f"{len(self.left_out)} of them left out",) if self.left_out else ()),
            *(f"under {' '.join(_toxic_words(each))}" for each in self.under),
        )


def _toxic_words(overlay: dict[str, str | int]) -> Iterator[str]:
    for key, value in overlay.items():
        yield f"{value}" if key in ("toxic", "direction", "hop") else f"{key}={value}"
