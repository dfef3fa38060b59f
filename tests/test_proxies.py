"""Proxies that people run, each started from its subject file and lived through a few cells.

What they send is compared with what their configuration asks for: one sending in good health, and after work that ran
was answered with a closed connection or a 503 as many as it says. All that their files say beside that is checked where
a whole examination is made of them.
"""

import pytest

from fake_router.thread import RouterThread
from suites.accounts import accounts_of
from suites.cells import all_cells
from suites.driver import Driver
from suites.foreign import ForeignSubject, built_in_subject
from suites.lanes import run_plans
from suites.processes import Supervisor
from suites.run import Run
from suites.subject_file import built_in_file

Seen = tuple[int | None, int, int]  # status, sendings, executions

CELLS = ("none/healthy/first", "wait/fin-after/first", "status/503-after/first")
ONCE: tuple[Seen, ...] = ((200, 1, 1), (502, 1, 1), (503, 1, 1))
TWICE: tuple[Seen, ...] = ((200, 1, 1), (200, 2, 2), (200, 2, 2))
SEEN = {
    "haproxy:retry-all": TWICE,
    "apache": ONCE,
    "varnish:retry": TWICE,
    "envoy:retry-all": TWICE,
    "squid": ONCE,
    "trafficserver": ONCE,
    "fastify-http-proxy": ((200, 1, 1), (500, 1, 1), (503, 1, 1)),
    "nghttpx": ONCE,
    "h2o": ONCE,
    "lighttpd": ((200, 1, 1), (500, 1, 1), (503, 1, 1)),
    "vllm-router": TWICE,
    "sglang-router": TWICE,
    "smg": TWICE,
    "caddy:retry-post": ((200, 1, 1), (502, 4, 1), (503, 1, 1)),  # it has no body left to send
}
OF_CI = ("haproxy", "apache2", "varnishd")  # the programs that .ci/run installs: a machine of ours may lack others


def is_here(name: str) -> bool:
    """It can be started, or has to be."""
    file = built_in_file(name)
    return file.command[0] in OF_CI or ForeignSubject(file, Supervisor()).missing() is None


@pytest.mark.parametrize("name", [name for name in SEEN if is_here(name)])
async def test_a_proxy_sends_again_what_its_configuration_says(name: str) -> None:
    """Its caller gets that status, after so many sendings and executions."""
    runs: dict[int, Run] = {}
    cells = {cell.id: cell for cell in all_cells()}
    async with Supervisor() as supervisor:
        subject = built_in_subject(name, supervisor)
        if missing := subject.missing():
            pytest.skip(missing)
        with RouterThread() as routers:
            async with Driver(subject=subject, routers=routers) as driver:
                await run_plans(driver, [cells[id_].plan for id_ in CELLS], runs.__setitem__)
    assert tuple(seen_in(runs[place]) for place in range(len(CELLS))) == SEEN[name]


def seen_in(run: Run) -> Seen:
    """What became of the only operation of its plan."""
    (account,) = accounts_of(run).planned
    (outcome,) = (outcome for outcome in run.history if outcome.operation == account.operation)
    return outcome.status, len(account.attempts), len(account.executions)
