"""The process of the SDK: what is said where the SDK is not installed, and when its process is gone."""

import pytest

from suites.bench import Bench, NotRunError
from suites.tinker_sdk import process
from suites.tinker_sdk.bench import SdkBench
from suites.tinker_sdk.process import SdkError, SdkProcess


def test_without_the_sdk_there_is_one_line_that_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is started, and to pytest it is a skip."""
    monkeypatch.setattr(process, "find_spec", lambda name: None)
    with Bench.open("reference-server", 1) as bench:  # noqa: SIM117  # it is the inner one that raises
        with pytest.raises(NotRunError) as raised, SdkBench.open(bench):
            raise AssertionError("it was opened without the SDK")
    assert str(raised.value) == f"not_run: the real Tinker SDK is not installed; {process.INSTALL}"


async def test_a_process_that_ends_by_itself_fails_what_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the last that it wrote; and so does whatever is asked later."""
    monkeypatch.setattr(process, "ADAPTER", "suites.tinker_sdk.no_such_module")
    async with SdkProcess.open() as sdk:
        for _ in range(2):
            with pytest.raises(
                SdkError, match=r"(?s)has ended with code 1[.].*No module named suites.tinker_sdk.no_such"
            ):
                await sdk.client("http://127.0.0.1:1", httpx=False, headers={})
