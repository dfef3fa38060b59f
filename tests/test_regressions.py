"""What shipped software was seen to do: each plan can be replayed, and shows it where its subject is installed."""

import tomllib
from pathlib import Path

import pytest

import suites
from fake_router.thread import RouterThread
from faults.plan_json import load_plan
from suites.checks import CHECKS
from suites.driver import Driver
from suites.judge import judge
from suites.lanes import run_plans
from suites.processes import Supervisor
from suites.registry import subject_named
from suites.run import Run

FOLDER = Path(suites.__file__).with_name("regressions")
PAGE = (Path(__file__).parent.parent / "docs" / "survey.md").read_text("utf-8")
KINDS = {
    "a 5xx after acceptance that is executed twice",
    "a forwarder and a router that multiply",
    "`{}` with 200 stored as a completed result",
    "a POST that is sent again without its body",
    "a retry that depends on segmentation or size",
    "an HTML page turned into an empty, successful stream",
    "a healthy stream cut by a total time-out",
    "a retry for a caller that has gone",
    "a client SDK that executes three times by default",
    "a cut answer that is asked for again",
}
SEEN: list[dict[str, str]] = tomllib.loads((FOLDER / "seen.toml").read_text("utf-8"))["seen"]
QUICK_MS = 60_000  # what may take longer to start is replayed where it is examined
OF_CI = "haproxy"  # what every machine of ours has


def test_every_plan_is_seen_somewhere() -> None:
    """And what was seen has its plan, its subject and its check."""
    assert {seen["plan"] for seen in SEEN} == {path.name for path in FOLDER.glob("*.json")}
    for seen in SEEN:
        assert load_plan((FOLDER / seen["plan"]).read_text("utf-8")).name == seen["plan"].removesuffix(".json")
        assert subject_named(seen["subject"], Supervisor()).spec.apis
        assert seen["check"] in {check.name for check in CHECKS}
        assert seen["says"]
        assert seen["version"]


def test_every_kind_of_finding_has_a_plan_and_a_row_on_the_page() -> None:
    """Whoever reads of one can replay it: which plan, on whom, and in which version it was seen."""
    assert {seen["finds"] for seen in SEEN} == KINDS
    rows = {tuple(row.strip("| ").split(" | ")) for row in PAGE.splitlines() if ".json`" in row and row.startswith("|")}
    assert rows == {(s["finds"], f"`{s['plan']}`", f"`{s['subject']}`", s["version"], s["says"]) for s in SEEN}


def is_here(name: str) -> bool:
    """It can be started soon, or has to be."""
    subject = subject_named(name, Supervisor())
    missing = getattr(subject, "missing", lambda: None)()
    return name.startswith(OF_CI) or (missing is None and subject.spec.start_ms <= QUICK_MS)


@pytest.mark.parametrize(
    "seen",
    [seen for seen in SEEN if is_here(seen["subject"])],
    ids=lambda seen: f"{seen['subject']}-{seen['plan'].removesuffix('.json')}",
)
async def test_it_is_seen_again(seen: dict[str, str]) -> None:
    """The check says it once more."""
    plan = load_plan((FOLDER / seen["plan"]).read_text("utf-8"))
    runs: dict[int, Run] = {}
    async with Supervisor() as supervisor:
        subject = subject_named(seen["subject"], supervisor)
        with RouterThread() as routers:
            async with Driver(subject=subject, routers=routers) as driver:
                await run_plans(driver, [plan], runs.__setitem__)
    assert seen["says"] in " ".join(f.says for f in judge(runs[0]).findings if f.check == seen["check"])
