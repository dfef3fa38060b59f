"""A cell's diagram as a Mermaid sequence diagram in a fenced block, as GitHub and GitLab draw it."""

from collections.abc import Iterable, Iterator, Sequence

from signoff.marked_text import in_mermaid
from signoff.report import Step

_MARKS = {"accepted": "✓ ", "executed": "▶ ", "strike": "⚡ ", "": ""}


def mermaid(steps: Sequence[Step]) -> str:
    """The fenced block; empty for a diagram without a step."""
    if not steps:
        return ""
    numbers = _numbered(name for step in steps for name in (step.who, step.whom or step.who))
    participants = (f"  participant p{number} as {in_mermaid(name) or '?'}" for name, number in numbers.items())
    return "\n".join(("```mermaid", "sequenceDiagram", *participants, *_lines(steps, numbers), "```"))


def _numbered(names: Iterable[str]) -> dict[str, int]:
    """Each once; the caller is on the left, then the forwarder, as they come."""
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


def _lines(steps: Iterable[Step], numbers: dict[str, int]) -> Iterator[str]:
    for step in steps:
        who = f"p{numbers[step.who]}"
        says = f"{_MARKS[step.mark]}{in_mermaid(step.says)}"
        if step.whom:
            yield f"  {who}->>p{numbers[step.whom]}: {says}"
        else:
            yield f"  Note over {who}: {says}"
