"""What a container sends is shaped by this machine's kernel, where it can; else the cells say what it lacks."""

import subprocess
from collections.abc import Iterator, Sequence

import pytest

from faults.catalogue import DISTURBANCES
from faults.disturbance import Disturb
from faults.plan import Plan, PlannedListener, PlannedOperation
from suites.reach import Machine, unreachable
from suites.stacks import shaping
from suites.stacks.compose_file import load_stack
from suites.stacks.errors import StackError
from suites.stacks.network import StackNetwork

SHAPED = {id_: one.act for id_, one in DISTURBANCES.items() if isinstance(one.act, Disturb) and one.act.how.queueing}


@pytest.fixture(autouse=True)
def _asked_anew() -> Iterator[None]:
    """What this machine can is not remembered from test to test."""
    shaping.lacks.cache_clear()
    yield
    shaping.lacks.cache_clear()


def says(monkeypatch: pytest.MonkeyPatch, *, code: int = 0, out: str = "", err: str = "") -> list[Sequence[str]]:
    """tc ends so; what it was told."""
    told: list[Sequence[str]] = []

    def run(words: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        told.append(words)
        return subprocess.CompletedProcess(words, code, out, err)

    monkeypatch.setattr(shaping, "_run", run)
    monkeypatch.setattr(shaping, "which", lambda name: f"/usr/sbin/{name}")
    return told


def test_a_kernel_without_a_discipline_is_said_to_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """In its own words; it was tried out where it strikes nobody."""
    told = says(monkeypatch, code=2, err="Error: Specified qdisc kind is unknown.\n")
    why = "this kernel lays no netem over what a container sends (Specified qdisc kind is unknown.)"
    assert shaping.lacking()["netem"] == why
    assert all(tuple(words[:2]) == ("unshare", "-n") for words in told)


def test_a_machine_without_tc_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is started."""
    told = says(monkeypatch)
    monkeypatch.setattr(shaping, "which", lambda name: None if name == "tc" else name)
    assert "no 'tc' here" in (shaping.lacks("tbf") or "")
    assert told == []


def test_where_it_can_be_nothing_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is tried out once."""
    told = says(monkeypatch)
    assert (shaping.lacking(), shaping.lacks("tbf")) == ({}, None)
    assert len(told) == 2


def test_all_that_leads_out_is_shaped_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Docker calls a device otherwise when its container comes back to a network."""
    listed = (
        '[{"kind":"tbf","root":true,"dev":"lo"},{"kind":"noqueue","root":true,"dev":"eth1"},{"kind":"x","dev":"eth1"}]'
    )
    told = says(monkeypatch, out=listed)
    shaping.shape("/netns", "tbf")
    assert told[1][:9] == ["nsenter", "--net=/netns", "tc", "qdisc", "add", "dev", "eth1", "root", "tbf"]
    assert shaping.shaped("/netns") == "noqueue"


def test_what_tc_refuses_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what was expected."""
    says(monkeypatch, code=1, err="Operation not permitted")
    with pytest.raises(StackError, match="Operation not permitted; expected an engine on this machine, and root"):
        shaping.unshape("/netns")


@pytest.mark.parametrize("fault", SHAPED)
def test_what_this_kernel_lacks_is_not_run_and_says_so(fault: str) -> None:
    """What it has is."""
    network = StackNetwork(project="retryproof-0", prefix="198.18.0")
    spec = load_stack("stack:vllm", network).file.spec
    plan = Plan(operations=(PlannedOperation(),), listeners=(PlannedListener(fault=fault),))
    kind = SHAPED[fault].how.queueing
    assert kind is not None
    assert unreachable(plan, spec, Machine(packets=True, no_queueing={kind: "none here"})) == "none here"
    assert unreachable(plan, spec, Machine(packets=True)) is None
