"""The options of the server: one table, and everything that is made from it."""

import argparse
import asyncio
import re
import sys
from pathlib import Path

import pytest

import forwarder
from forwarder.__main__ import main
from forwarder.api.options import OPTIONS, add_to, read, table
from forwarder.api.patience import GRACE_S, LAST_ANSWERS_S
from tests.api_server import options_of, running

KUBERNETES_S = 30  # terminationGracePeriodSeconds, by default
SPARE_S = 3
ROUTER = ("--router", "http://a")


def test_the_document_has_the_table_of_options() -> None:
    """docs/server.md holds it, byte for byte."""
    assert table() in (Path(__file__).parent.parent / "docs" / "server.md").read_text()


def test_what_messages_and_comments_call_an_option_is_one() -> None:
    """A caller who is told to raise a limit finds it."""
    package = Path(forwarder.__file__).parent
    named = {flag for file in package.rglob("*.py") for flag in re.findall(r"--[a-z][a-z-]*", file.read_text())}
    assert named - {"--flag", "--no-flag"} == {option.flag for option in OPTIONS}


def test_a_server_ends_within_what_kubernetes_gives_and_has_some_of_it_to_spare() -> None:
    """By default, with operations in flight and callers that do not take their answers."""
    assert options_of(*ROUTER).drain_s + LAST_ANSWERS_S + GRACE_S <= KUBERNETES_S - SPARE_S


def test_each_option_is_read_from_the_command_line_then_from_the_environment_then_by_default() -> None:
    """By each option's own rules."""
    parser = argparse.ArgumentParser()
    add_to(parser)
    environ = {option.variable: "7" for option in OPTIONS if option.default is not None and option.default.isdecimal()}
    environ |= {"FORWARDER_ROUTER": "http://a http://b", "FORWARDER_ACCESS_LOG": "off", "FORWARDER_CA": ""}
    found = vars(read(parser, ["--drain-s", "3", "--hold-s", "4"], environ))
    for option in OPTIONS:
        if option.variable in environ and environ[option.variable] == "7":
            assert found[option.name] == {"drain_s": 3, "hold_s": 4}.get(option.name, 7)
    assert found["router"] == ["http://a", "http://b"]
    assert (found["access_log"], found["ca"], found["store"]) == (False, None, "")
    assert options_of(*ROUTER).hold_s == 300


WRONG = [
    ((), {"FORWARDER_HOLD_S": "x"}, "$FORWARDER_HOLD_S: 'x'; expected a whole number from 1"),
    ((), {"FORWARDER_ACCESS_LOG": "maybe"}, "$FORWARDER_ACCESS_LOG: 'maybe'; expected one of 1, on"),
    (("--store", "sqlite:"), {}, "'sqlite:'; expected memory or sqlite:PATH"),
    (("--store", "sqlite::memory:"), {}, "'sqlite::memory:'; expected memory or sqlite:PATH"),
    (("--retrieved-ttl-s", "2", "--undelivered-ttl-s", "1"), {}, "retrieved_ms is 2000"),
    (("--test-clock", "0", "--listen", "0.0.0.0:0"), {}, "expected a loopback address"),
]


@pytest.mark.parametrize(("flags", "environ", "says"), WRONG)
def test_a_wrong_option_is_exit_2_and_says_what_was_expected(
    flags: tuple[str, ...],
    environ: dict[str, str],
    says: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nothing is started."""
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit, match=r"^2$"):
        main([*ROUTER, *flags])
    assert says in capsys.readouterr().err


async def test_a_store_that_cannot_be_opened_is_exit_4(tmp_path: Path) -> None:
    """One line says why."""
    flags = ("--listen", "127.0.0.1:0", "--store", f"sqlite:{tmp_path}")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "forwarder", *ROUTER, *flags, stderr=asyncio.subprocess.PIPE
    )
    _, err = await process.communicate()
    assert process.returncode == 4
    assert len(err.splitlines()) == 1
    assert b"--store: cannot open" in err


async def test_the_clock_of_tests_is_served_only_where_it_was_asked_for() -> None:
    """Otherwise there is no such path."""
    async with running(*ROUTER) as server:
        assert (await server.post("/test/advance", {"ms": 1})).status == 404
    async with running(*ROUTER, "--test-clock", "1000") as server:
        assert (await server.settled(1))["now_ms"] == 1001
        assert (await server.post("/test/advance", {"ms": -1})).status == 422
