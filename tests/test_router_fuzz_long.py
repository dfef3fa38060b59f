"""The long run of hostile inputs, short: it passes on the router as it is, and names the input with which it fails."""

import pytest

from benchmarks import honest, router_fuzz

SMALL = ["--inputs", "300", "--idle", "20", "--seed", "1"]


def test_a_short_long_run_passes(capsys: pytest.CaptureFixture[str]) -> None:
    """With the router in a process of its own, and idle connections beside."""
    assert router_fuzz.main(SMALL) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith("seed 1: 300 inputs")


def test_a_dishonest_answer_is_named_with_the_command_that_gets_it_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same seed and place, the same input."""
    monkeypatch.setattr(honest, "ALLOWED", frozenset({200}))
    assert router_fuzz.main(SMALL) == 1
    again = capsys.readouterr().err.rpartition("python -m benchmarks.router_fuzz ")[2].split()
    assert router_fuzz.main([*again, "--idle", "0"]) == 1
    assert capsys.readouterr().err.rpartition("python -m benchmarks.router_fuzz ")[2].split() == again


def test_a_request_that_is_not_in_the_ledger_is_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever was answered."""
    monkeypatch.setattr(router_fuzz, "load", lambda _: ())
    assert router_fuzz.main(SMALL) == 1
    assert "whole requests are not in the ledger" in capsys.readouterr().err


@pytest.mark.parametrize(("rss_mb", "files", "code"), [(50, 9, 0), (50, 11, 0), (67, 9, 1), (50, 12, 1)])
def test_what_grows_fails(rss_mb: float, files: int, code: int) -> None:
    """Memory beyond its bound, and files beyond those of the control port."""
    looks = [router_fuzz.Look(inputs=1, rss_mb=50, files=9)] * router_fuzz.WARM_UP
    assert router_fuzz._verdict([*looks, router_fuzz.Look(inputs=2, rss_mb=rss_mb, files=files)]) == code
