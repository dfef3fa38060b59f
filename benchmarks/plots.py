"""The plots of docs/performance.md, as one SVG: `python -m benchmarks.plots` draws it from benchmarks/results.json.

Left, what a request costs the forwarder, the more of them are held in flight: measured. Right, how long the last of so
many waits for an engine: its capacity and service time, and the time-outs that would cut it.
"""

import math
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.load_rows import CAPACITY, SERVICE_S
from benchmarks.peers import ROOT
from benchmarks.results_page import kept_in

PAGE = Path(__file__).parent / "results.md"
ROW = "forwarder_load"  # of which the left one is drawn
PLOT = ROOT / "docs" / "performance.svg"
TIME_OUTS_S = (60, 300, 2048)  # what proxies come with, what clients are often given, and our read time-out
_HELD = re.compile(
    r"^(?P<client>aiohttp|httpx)[^:]*: (?P<count>[0-9]+) held: (?P<least>more than )?(?P<us>[0-9]+) ", re.M
)
_WIDTH, _HEIGHT = 380, 260
_LEFT, _TOP = 64, 44
_COLOURS = ("#0b6e4f", "#b3261e")


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A logarithmic axis: values between two powers of `base`, and where they lie."""

    low: float
    high: float
    base: int
    length: int

    def at(self, value: float) -> float:
        """Pixels from its beginning."""
        return self.length * math.log(value / self.low) / math.log(self.high / self.low)

    @property
    def ticks(self) -> list[int]:
        """Every power of the base."""
        steps = round(math.log(self.high / self.low, self.base))
        return [round(self.low * self.base**step) for step in range(steps + 1)]


def cpu_in(output: str) -> dict[str, list[tuple[int, int]]]:
    """Of what forwarder_load printed: for each client, microseconds of CPU a request at so many in flight."""
    found: dict[str, list[tuple[int, int]]] = {}
    for match in _HELD.finditer(output):
        found.setdefault(match["client"], []).append((int(match["count"]), int(match["us"])))
    return found


def plot(output: str) -> str:
    """The whole picture."""
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" width="960" height="360" viewBox="0 0 960 360" role="img"'
        ' font-family="sans-serif" font-size="12">',
        "<title>CPU a request over operations in flight; and the wait for an engine over operations in flight</title>",
        '<rect width="960" height="360" fill="#fff"/>',
        *_cpu(cpu_in(output)),
        *_wait(),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _cpu(measured: dict[str, list[tuple[int, int]]]) -> list[str]:
    x, y = Axis(low=512, high=4096, base=2, length=_WIDTH), Axis(low=100, high=10_000, base=10, length=_HEIGHT)
    lines = _frame(_LEFT, x, y, "CPU a request of the forwarder, in microseconds (measured)", str)
    for colour, (client, points) in zip(_COLOURS, measured.items(), strict=False):
        lines += _line(_LEFT, x, y, points, colour, f"over {client}", dots=True)
    return lines


def _wait() -> list[str]:
    left = _LEFT + 480
    x, y = Axis(low=1024, high=1 << 17, base=2, length=_WIDTH), Axis(low=1, high=10_000, base=10, length=_HEIGHT)
    title = f"seconds that the last one waits: capacity {CAPACITY:,}, {SERVICE_S} s each"
    lines = _frame(left, x, y, title, lambda count: f"{count // 1024}k")
    points = [(count, math.ceil(count / CAPACITY) * SERVICE_S) for count in x.ticks]
    lines += _line(left, x, y, points, _COLOURS[0], "queue and service", dots=False)
    for time_out_s in TIME_OUTS_S:
        height = _TOP + _HEIGHT - y.at(time_out_s)
        lines.append(
            f'<line x1="{left}" x2="{left + _WIDTH}" y1="{height:.1f}" y2="{height:.1f}" stroke="#555"'
            ' stroke-dasharray="4 4"/>'
        )
        most = min(time_out_s // SERVICE_S * CAPACITY, 10**9)
        lines.append(f'<text x="{left + 6}" y="{height - 4:.1f}">time-out {time_out_s:,} s: cut beyond {most:,}</text>')
    return lines


def _frame(left: int, x: Axis, y: Axis, title: str, named: Callable[[int], str]) -> list[str]:
    bottom = _TOP + _HEIGHT
    lines = [
        f'<text x="{left - 40}" y="{_TOP - 18}" font-weight="bold">{title}</text>',
        f'<rect x="{left}" y="{_TOP}" width="{x.length}" height="{y.length}" fill="none" stroke="#999"/>',
        f'<text x="{left + x.length / 2:.0f}" y="{bottom + 40}" text-anchor="middle">operations in flight</text>',
    ]
    for tick in x.ticks:
        at = left + x.at(tick)
        lines.append(f'<text x="{at:.1f}" y="{bottom + 18}" text-anchor="middle">{named(tick)}</text>')
    for tick in y.ticks:
        at = bottom - y.at(tick)
        lines.append(f'<line x1="{left}" x2="{left + x.length}" y1="{at:.1f}" y2="{at:.1f}" stroke="#e5e5e5"/>')
        lines.append(f'<text x="{left - 6}" y="{at + 4:.1f}" text-anchor="end">{tick:,}</text>')
    return lines


def _line(
    left: int, x: Axis, y: Axis, points: Sequence[tuple[int, int]], colour: str, name: str, *, dots: bool
) -> list[str]:
    bottom = _TOP + _HEIGHT
    placed = [(left + x.at(count), bottom - y.at(value)) for count, value in points]
    path = " ".join(f"{across:.1f},{up:.1f}" for across, up in placed)
    lines = [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>']
    if dots:
        lines += [
            f'<circle cx="{across:.1f}" cy="{up:.1f}" r="3" fill="{colour}">'
            f"<title>{count:,} in flight: {value:,}</title></circle>"
            for (across, up), (count, value) in zip(placed, points, strict=True)
        ]
    across, up = placed[-1]
    lines.append(f'<text x="{across - 6:.1f}" y="{up - 8:.1f}" text-anchor="end" fill="{colour}">{name}</text>')
    return lines


def main() -> int:
    """Draw it; 4 where nothing has been measured yet."""
    measured = kept_in(PAGE).get(ROW)
    if measured is None or not cpu_in(measured.output):
        print(f"plots: nothing measured yet; expected `python -m benchmarks {ROW}` before", file=sys.stderr)
        return 4
    PLOT.write_text(plot(measured.output))
    return 0


if __name__ == "__main__":
    sys.exit(main())
