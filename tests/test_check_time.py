"""The benchmark of a check's time says what is too slow, and what could not run."""

import pytest

from benchmarks import check_time
from benchmarks.check_time import Timed
from tests.literal_reports import literal_report


@pytest.mark.parametrize(
    ("seconds", "what", "code"), [(9.9, "core", 0), (10.1, "core", 1), (39.0, "full", 0), (41.0, "full", 1)]
)
def test_a_check_over_its_limit_fails(
    seconds: float, what: str, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each depth has its own; drawn plans alone have none."""
    report = literal_report()

    def check(subject: str, name: str, _: object) -> Timed:
        return Timed(subject=subject, what=name, seconds=seconds if name == what else 1.0, report=report)

    monkeypatch.setattr(check_time, "_check", check)
    assert check_time.main(["reference"]) == code
    assert ("TOO SLOW" in capsys.readouterr().out) is (code == 1)


def test_a_subject_that_cannot_run_is_exit_code_4(capfd: pytest.CaptureFixture[str]) -> None:
    """Its check has said why."""
    assert check_time.main(["nowhere.toml"]) == 4
    assert "nowhere.toml" in capfd.readouterr().err
