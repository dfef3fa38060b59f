"""What is written of several loads, one after the other, before the last of them is over."""

from io import StringIO
from typing import Any

import pytest

from fake_router.service import INSTANT
from retryproof.exits import CommandError, Exit
from retryproof.load_asked import Asked
from retryproof.loading import load_report
from retryproof.terminal import Screen
from signoff.load_report import LoadReport
from suites.load.ended import Ended
from suites.load.found import Found
from suites.load.target import target_named
from suites.subject import SubjectError
from tests.load_data import account, found, tally

_ASKED = Asked(
    file=target_named("nginx"),
    levels=(1, 2),
    operations=None,
    service=INSTANT,
    callers=None,
    processes=None,
    instances=None,
    routers=None,
    mix=None,
    seed=0,
    under=(),
    console=Screen(file=StringIO()),
    for_s=None,
    patience_s=1,
    give_up_s=1,
)


@pytest.mark.parametrize("second", [found(tally(Ended.OK), account([1])), SubjectError("it does not start")])
def test_a_report_is_a_part_until_its_last_load_is_over(
    second: Found | SubjectError, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And remains one where that could not run: a PASS of the first is none of all."""
    come: list[Found | SubjectError] = [found(tally(Ended.OK), account([1])), second]

    class _Living:
        partly = None

        def __init__(self, **_: Any) -> None:
            pass

        async def found(self) -> Found:
            one = come.pop(0)
            if isinstance(one, SubjectError):
                raise one
            return one

    monkeypatch.setattr("retryproof.load_lives.Living", _Living)
    monkeypatch.setattr("retryproof.loading.ForeignSubject.missing", lambda _: None)
    begun: list[LoadReport] = []
    written: list[LoadReport] = []
    if isinstance(second, SubjectError):
        with pytest.raises(CommandError, match="it does not start") as caught:
            load_report(_ASKED, lambda _: None, written.append, lambda *_: None, begin=begun.append)
        assert caught.value.code is Exit.COULD_NOT_RUN
    else:
        load_report(_ASKED, lambda _: None, written.append, lambda *_: None, begin=begun.append)
    assert [report.partial for report in begun] == ["2 of 2 loads are to come"]
    first, last = ((report.verdict, report.partial) for report in written)
    assert first == ("UNKNOWN", "1 of 2 loads are to come")
    assert last == (("PASS", "") if not isinstance(second, SubjectError) else ("UNKNOWN", "it does not start"))
