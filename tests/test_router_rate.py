"""The benchmark of the router's rate says what it needs."""

import pytest

from benchmarks import router_rate


@pytest.mark.parametrize("program", ["wrk", "nginx"])
def test_a_missing_program_is_one_message_and_exit_code_4(
    program: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None if name == program else f"/bin/{name}")
    assert router_rate.main() == 4
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"router_rate: {program} is not on the PATH; expected it installed")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("rates", "exact", "code"),
    [
        ((2500, 10_000, 250), True, 0),
        ((2499, 10_000, 200), True, 1),
        ((2500, 10_000, 251), True, 1),
        ((9000, 9000, 9), False, 1),
    ],
)
def test_too_slow_or_inexact_is_exit_code_1(
    rates: tuple[int, int, int], exact: bool, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    router, nginx, http = (router_rate.Load(answered=rate, sent=rate, us=1_000_000, errors=0) for rate in rates)
    assert router_rate._report([router] * 7, [nginx] * 7, [http] * 3, exact=exact) == code
    assert "median of 7 pairs" in capsys.readouterr().out
