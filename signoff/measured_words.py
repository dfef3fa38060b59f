"""What is measured of a side, in a few words, the same ones in every face."""

from signoff.sign_off import Amplified, Interval


def rate(found: Interval) -> str:
    """Per 1,000 operations, with its interval."""
    return f"{found.rate:g} ({found.low:g} to {found.high:g})"


def amplified(found: Amplified | None) -> str:
    """Of each operation."""
    if found is None:
        return "not measured"
    return f"{found.attempts:g} sent, {found.executions:g} run, {found.failed:.0%} without a result"


def waits(multiple: float | None) -> str:
    """How long a caller waits for a failure, in time-outs."""
    return "no failure" if multiple is None else f"{multiple:g}"
