"""What is lived through behind a Toxiproxy has one built where there is none, unless told not to."""

from pathlib import Path

import pytest

from faults.plan import Plan, PlannedOperation
from faults.plan_json import dump_plan
from faults.toxics import Latency
from faults.under import Overlay
from tests.command_process import Place

UNDER = ("--under", "latency=5", "--only", "status/502-after/first", "--out", "out")
PLAN = Plan(operations=(PlannedOperation(),), under=(Overlay(toxic=Latency(latency_ms=5)),))
# What this Go builds says its version, and is no server.
GO = """#!/bin/sh
[ "$1" = version ] && echo go version go1.26.0 && exit
mkdir -p "$GOBIN"
printf '#!/bin/sh\\n[ "$1" = -version ] && echo 2.12.0 && exit\\necho really started\\nexit 7\\n' >$GOBIN/server
chmod +x $GOBIN/server
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A machine with Go and without a Toxiproxy."""
    go = tmp_path / "bin" / "go"
    go.parent.mkdir()
    go.write_text(GO)
    go.chmod(0o755)
    (tmp_path / "plan.json").write_text(dump_plan(PLAN))
    path = f"{go.parent}:/usr/bin:/bin"
    return Place(path=tmp_path, env={"PATH": path, "XDG_CACHE_HOME": str(tmp_path / "cache"), "TOXIPROXY_URL": ""})


@pytest.mark.toxiproxy
@pytest.mark.parametrize(
    "command", [("check", "reference", *UNDER), ("signoff", "reference", "reference", *UNDER), ("replay", "plan.json")]
)
def test_it_is_built_once_and_that_is_said_on_one_line(place: Place, command: tuple[str, ...]) -> None:
    """What was built is started; the second time nothing is built; --quiet says nothing of it."""
    cached = place.path / "cache" / "retryproof" / "toxiproxy" / "2.12.0" / "toxiproxy-server"
    first, second = place.run(*command), place.run(*command, "--quiet")
    building = f"retryproof: building Toxiproxy 2.12.0 with {place.path}/bin/go; it is kept in {cached.parent}\n"
    assert first.err.startswith(building)
    assert (first.err.count("retryproof: "), second.err.count("retryproof: ")) == (2, 1)
    assert (first.code, second.code, first.out, second.out) == (4, 4, "", "")
    assert second.message().startswith(f"Toxiproxy ({cached}) exited with code 7 before it was ready.")
    assert "really started" in second.err
    assert place.temporary() == []


@pytest.mark.toxiproxy
def test_told_not_to_it_says_what_else_to_do(place: Place) -> None:
    """And leaves the cache alone."""
    place.env["RETRYPROOF_NO_BUILD"] = "1"
    ended = place.run("check", "reference", *UNDER)
    assert (ended.code, ended.out) == (4, "")
    assert ended.message().startswith("no Toxiproxy: TOXIPROXY_URL is not set, ")
    assert "run `retryproof toxiproxy install`" in ended.err
    assert not (place.path / "cache").exists()
