"""What one row of a run of all benchmarks came to."""

import os

import msgspec

from benchmarks.ratio import Ratio, ratios_in
from benchmarks.rows import Row

_MISSING = 4
_BOTTLENECK = "bottleneck: "


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """missing: which component is, with its install line. broken: why it measured nothing, or what it found wrong.
    output: all that it printed. load: of the machine while it ran, itself included.
    """

    name: str
    says: str
    ratios: list[Ratio]
    bottleneck: str
    seconds: float
    output: str
    missing: str = ""
    broken: str = ""
    load: float | None = None

    @property
    def words(self) -> list[str]:
        """It in a few lines."""
        head = f"{self.name}: {self.says} ({self.seconds:.0f} s)"
        wrong = [f"  {self.missing or self.broken}"] if self.missing or self.broken else []
        lines = [f"  {ratio.line.removeprefix('ratio: ')}{'' if ratio.met else '   NOT MET'}" for ratio in self.ratios]
        return [head, *wrong, *lines, *([f"  bottleneck: {self.bottleneck}"] if self.bottleneck else [])]


def measured_of(row: Row, code: int, output: str, errors: str, seconds: float) -> Measured:
    """From how its command ended and what it printed."""
    ratios = ratios_in(output)
    lines = [line.removeprefix(_BOTTLENECK) for line in output.splitlines() if line.startswith(_BOTTLENECK)]
    said = {line.partition(":")[0]: line for line in lines}  # of repeats the last
    last = errors.strip().splitlines()[-1:] or ["it said nothing"]
    missing = last[0] if code == _MISSING else ""
    unmet = code == 1 and any(not ratio.met for ratio in ratios)
    broken = "" if code == 0 or missing or unmet else f"exit code {code}: {last[0]}"
    return Measured(
        name=row.name,
        says=row.says,
        ratios=ratios,
        bottleneck="; ".join(said.values()) or row.bottleneck,
        seconds=round(seconds, 1),
        output=output,
        missing=missing,
        broken=broken,
        load=round(os.getloadavg()[0], 1),
    )
