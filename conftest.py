"""What every test here shares: a skip counts as a failure where the environment says that nothing may be missing."""

import os
from collections.abc import Generator

import pytest

NO_SKIP = "RETRYPROOF_NO_SKIP"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A skip fails under RETRYPROOF_NO_SKIP: CI has installed what the test says is missing."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get(NO_SKIP):
        report.outcome = "failed"
        report.longrepr = f"skipped although {NO_SKIP} is set: {report.longrepr}"
    return report
