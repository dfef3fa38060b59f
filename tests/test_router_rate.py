"""The benchmark of the router's rate says what it needs."""

import re
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from benchmarks import router_held, router_rate
from benchmarks.peers import Server
from benchmarks.rates import Load, Rates
from fake_router.account import Account


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


def _load(rate: int, cpu_s: float = 0.9) -> Load:
    return Load(answered=rate, sent=rate, us=1_000_000, errors=0, cpu_s=cpu_s)


def _measured(router: int, nginx: int, mock: int, *, exact: bool = True) -> Rates:
    mocks = {name: [_load(mock)] * 3 for name in ("WireMock", "mountebank")}
    return Rates(routers=[_load(router)] * 7, nginxes=[_load(nginx)] * 7, mocks=mocks, exact=exact)


@pytest.mark.parametrize(
    ("found", "code"),
    [
        (_measured(3500, 10_000, 1166), 0),
        (_measured(3499, 10_000, 1000), 1),
        (_measured(3500, 10_000, 1167), 1),
        (_measured(9000, 9000, 9, exact=False), 1),
    ],
)
def test_too_slow_or_inexact_is_exit_code_1(found: Rates, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert router_rate._report(found) == code
    assert "to nginx = " in capsys.readouterr().out


def test_a_mock_that_was_not_warm_proves_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    found = _measured(9000, 9000, 9)
    found.cold.append("WireMock had 1 s of CPU")
    assert router_rate._report(found) == 1
    assert "not warm, so that its ratio says too much: WireMock" in capsys.readouterr().err


def test_what_is_not_installed_is_said_with_the_line_that_installs_it_and_counts_for_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = Rates(routers=[_load(35)] * 7, nginxes=[_load(100)] * 7)
    monkeypatch.setattr("shutil.which", lambda name: "/bin/java" if name == "java" else None)
    monkeypatch.setattr("benchmarks.peers.find_spec", lambda name: None)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    with ExitStack() as stack:
        cores = router_rate.Cores.chosen()
        assert router_rate._mocks(stack, b"", cores, tmp_path / "post.lua", found) == {}
    assert router_rate._report(found) == 0
    out = capsys.readouterr().out
    for line in ("pip install 'retryproof[bench]'", "mvn dependency:get", "npm install -g mountebank"):
        assert line in out


def test_cpu_is_told_for_each_request_and_beside_that_of_nginx(capsys: pytest.CaptureFixture[str]) -> None:
    found = Rates(routers=[_load(50_000)] * 7, nginxes=[_load(50_000, 0.3)] * 7)
    router_rate._report(found)
    out = capsys.readouterr().out
    assert re.search(r"^fake router +50000 +50000 +50000 +18\.0 +7$", out, re.MULTILINE)
    assert "ratio: CPU a request of nginx, to the fake router = 0.333 (0.333 to 0.333, 7 repeats)" in out.splitlines()


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


def test_what_is_held_must_cost_little_and_be_answered_once(capsys: pytest.CaptureFixture[str]) -> None:
    whole = Account(executed=router_held.HELD, answered=router_held.HELD)
    twice = Account(executed=router_held.HELD, answered=router_held.HELD, duplicated=1)
    for kb, answered, account, code in (
        (20.0, router_held.HELD, whole, 0),
        (20.1, router_held.HELD, whole, 1),
        (5.0, router_held.HELD - 1, whole, 1),
        (5.0, router_held.HELD, twice, 1),
    ):
        assert router_held._report([kb] * 3, answered, 1.0, [account]) == code
    assert "20.0 KB resident each" in capsys.readouterr().out


def test_too_few_files_are_said_with_the_number_that_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda which: (1024, 1024))
    assert router_held.main([]) == 4
    assert capsys.readouterr().err == "router_held: 1024 files a process; expected 16884 (ulimit -Hn)\n"
