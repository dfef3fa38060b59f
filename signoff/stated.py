"""What both sides of a sign-off state of themselves: a must is judged only of who promises it."""

from collections.abc import Iterator

from signoff.report import SubjectReport
from suites.run import Promise

_ORDER = tuple(map(str, Promise))  # each promises more than the one before


def promises_less(base: SubjectReport, candidate: SubjectReport) -> str:
    """What is to be said of a candidate of which less was judged than of the base; empty where that is not so."""
    was, now = base.promises, candidate.promises
    if was == now or (was in _ORDER and now in _ORDER and _ORDER.index(was) < _ORDER.index(now)):
        return ""
    return (
        f"the candidate promises {now!r}, the base {was!r}: what only the base promises was not judged of the candidate"
    )


def stated_otherwise(base: SubjectReport, candidate: SubjectReport) -> Iterator[str]:
    """What else both state otherwise, as far as a judgement depends on it."""
    if base.promises != candidate.promises and not promises_less(base, candidate):
        yield (
            f"the candidate promises {candidate.promises!r}, the base {base.promises!r}: what only the candidate "
            "promises was not judged of the base"
        )
    if base.contract != candidate.contract:
        yield "both name other answers as 'not accepted': what one side may send again is forbidden to the other"
