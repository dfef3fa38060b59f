"""In a network of its own the instrument can make a host unreachable, and disturbs nobody."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fake_router.injector import Injector
from faults.plan import Plan, PlanError, PlannedListener, PlannedOperation
from tests.command_process import COMMAND

ROOT = Path(__file__).parent.parent
FAULT = "host-unreachable"
CELLS = f"connect/{FAULT}/*"
_SYMPTOM = f"""
import sys
import pytest
from fake_router import own_network
own_network.enter()
# The router is imported before pytest can rewrite its asserts, of which it has none.
unrewritten = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
sys.exit(pytest.main(["-q", *unrewritten, "-p", "no:cacheprovider", "tests/test_router_symptoms.py", "-k", {FAULT!r}]))
"""
_TRY = "from fake_router import own_network; own_network.enter(); assert own_network.can_filter_packets()"


def _own(code: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module", autouse=True)
def _possible() -> None:
    if _own(_TRY).returncode != 0:
        pytest.skip("no network of its own for this user, or no iptables: apt-get install iptables")


def test_an_unreachable_host_shows_its_symptom() -> None:
    """EHOSTUNREACH at once, witnessed by the packet of its dial; after healing the port is reached."""
    done = _own(_SYMPTOM)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout  # over TLS too


@pytest.mark.parametrize("subject", ["reference", "nginx"])
def test_an_unreachable_host_is_a_safe_failure(subject: str, tmp_path: Path) -> None:
    """With a healthy upstream beside it the operation succeeds there."""
    if subject == "nginx" and shutil.which("nginx") is None:
        pytest.skip("nginx is not installed")
    out = tmp_path / "out"
    command = [*COMMAND, "check", subject, "--own-network", "--only", CELLS, "--quiet", "--out", str(out)]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False)
    assert done.returncode == 0
    (path,) = out.glob("*/report.json")
    cells = {cell["id"]: cell for cell in json.loads(path.read_bytes())["cells"]}
    assert {id_: (cell["verdict"], cell["outcome"]) for id_, cell in cells.items()} == {
        f"connect/{FAULT}/every-upstream": ("PASS", "unknown" if subject == "nginx" else "failed"),
        f"connect/{FAULT}/first-of-two": ("PASS", "ok"),
    }
    assert cells[f"connect/{FAULT}/first-of-two"]["attempts"] == 2


def test_a_router_elsewhere_refuses_to_change_the_machines_packet_filter() -> None:
    """Whoever arms it, over the control port or in a test: in this process there is no network of its own."""
    plan = Plan(operations=(PlannedOperation(),), listeners=(PlannedListener(fault=FAULT),))
    with pytest.raises(PlanError, match="expected a process in a network of its own"):
        Injector(1).arm(plan, first_operation=1, read_timeout_ms=300)


def test_without_a_network_of_its_own_nobody_is_made_unreachable(tmp_path: Path) -> None:
    """The cells are listed as not run, with what would do; and that run judged nothing."""
    out = tmp_path / "out"
    command = [*COMMAND, "check", "reference", "--only", CELLS, "--quiet", "--out", str(out)]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False)
    assert done.returncode == 3
    (path,) = out.glob("*/report.json")
    reasons = {cell["reason"] for cell in json.loads(path.read_bytes())["cells"]}
    assert len(reasons) == 1
    assert "--own-network" in reasons.pop()
