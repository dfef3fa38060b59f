"""The benchmark of the router's rate says what it needs."""

import re
import subprocess
import sys

import pytest

from benchmarks import router_rate
from benchmarks.peers import Server


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
    router, nginx, http = (
        router_rate.Load(answered=rate, sent=rate, us=1_000_000, errors=0, cpu_s=0.9) for rate in rates
    )
    assert router_rate._report([router] * 7, [nginx] * 7, [http] * 3, exact=exact) == code
    assert "median of 7 pairs" in capsys.readouterr().out


def test_cpu_is_told_for_each_request_and_beside_that_of_nginx(capsys: pytest.CaptureFixture[str]) -> None:
    router, nginx = (
        router_rate.Load(answered=50_000, sent=50_000, us=1_000_000, errors=0, cpu_s=cpu_s) for cpu_s in (0.9, 0.3)
    )
    router_rate._report([router] * 7, [nginx] * 7, [router] * 3, exact=True)
    out = capsys.readouterr().out
    assert re.search(r"^fake router +50000 +50000 +50000 +18\.0 +7$", out, re.MULTILINE)
    assert "for a request 3.0 times the CPU of nginx" in out


BURNS = """
import sys, time
while time.process_time() < 0.02: pass
print(time.process_time(), flush=True)
sys.stdin.read()
"""


def test_the_cpu_of_a_server_is_what_its_own_process_has_used() -> None:
    with subprocess.Popen([sys.executable, "-c", BURNS], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        said_s = float(process.stdout.readline())
        server = Server(port=0, process=process)
        assert said_s <= server.cpu_s
        assert process.stdin is not None
        process.stdin.close()
