"""Clients that people use, each called by its adapter through a few cells; and the adapter that the documents show."""

import os
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from fake_router.thread import RouterThread
from faults.coverage import Depth
from suites.accounts import accounts_of
from suites.client_process import ClientSubject
from suites.driver import Driver
from suites.fitting import cells_for
from suites.lanes import run_plans
from suites.processes import Supervisor
from suites.programs import environment
from suites.run import Run
from suites.speech import Channel
from suites.subject_file import BUILT_IN, built_in_file, built_in_names, load_subject_file
from suites.subject_text import SubjectFile
from tests.raw_router import RawRouter

Seen = tuple[int | None, str, int, int]  # status, kind, sendings, executions

DOCUMENT = Path(__file__).parent.parent / "docs" / "add-a-subject.md"
CELLS = ("none/healthy/first", "wait/fin-after/first", "status/503-after/first")
ONCE: tuple[Seen, ...] = ((200, "ok", 1, 1), (None, "unknown", 1, 1), (503, "unknown", 1, 1))
TWICE: tuple[Seen, ...] = ((200, "ok", 1, 1), (200, "ok", 2, 2), (200, "ok", 2, 2))
HERE = {"urllib3:retry-post": TWICE, "httpx": ONCE}
OBJECTS: tuple[Seen, ...] = ((None, "ok", 1, 1), (None, "ok", 2, 2), (None, "ok", 2, 2))  # of an SDK
ELSEWHERE = {
    "urllib3": ONCE,
    "httpx:transport-retries": ONCE,
    "tenacity": TWICE,
    "aiohttp-retry": (*ONCE[:2], TWICE[2]),
    "openai": OBJECTS,
    "litellm-sdk": OBJECTS,
    "anthropic": TWICE,
    "go-net-http": ONCE,
    "go-retryablehttp:short-waits": TWICE,
    "got": ONCE,
    "got:retry-post": TWICE,
    "axios-retry": (*TWICE[:2], ONCE[2]),
    "undici": (*ONCE[:2], ONCE[1]),  # of a 503 it makes an error, without its answer
    "okhttp": ONCE,
    "httpclient5": ONCE,
}


def clients() -> list[str]:
    """Every built-in client, and every variant of one."""
    return [name for name in built_in_names() if built_in_file(name).channel is Channel.LINES]


def is_missing(name: str) -> bool:
    """It is not installed here."""
    return ClientSubject(built_in_file(name), Supervisor()).missing() is not None


async def lived_through(file: SubjectFile) -> tuple[Seen, ...]:
    """What became of the only operation of each cell."""
    runs: dict[int, Run] = {}
    cells = {cell.id: cell for cell in cells_for([file.spec], Depth.CORE)}
    async with Supervisor() as supervisor:
        with RouterThread() as routers:
            async with Driver(subject=ClientSubject(file, supervisor), routers=routers) as driver:
                await run_plans(driver, [cells[id_].plan for id_ in CELLS], runs.__setitem__)
    return tuple(seen_in(runs[place]) for place in range(len(CELLS)))


def seen_in(run: Run) -> Seen:
    """What its caller got, after so many sendings and executions."""
    (account,) = accounts_of(run).planned
    (outcome,) = (outcome for outcome in run.history if outcome.operation == account.operation)
    return outcome.status, outcome.kind.value, len(account.attempts), len(account.executions)


@pytest.mark.parametrize("name", [*HERE, *(name for name in ELSEWHERE if not is_missing(name))])
async def test_a_client_sends_again_what_its_options_say(name: str) -> None:
    """Two of them in this Python, where their packages are for other tests too; the others where they are installed."""
    file = built_in_file(name)
    if name in HERE:
        file = replace(file, values={**file.values, "client_python": sys.executable}, needs=())
    assert await lived_through(file) == {**HERE, **ELSEWHERE}[name]


@pytest.mark.parametrize("name", [*HERE, *(name for name in ELSEWHERE if not is_missing(name))])
async def test_a_client_carries_what_its_caller_says(name: str) -> None:
    """A key too, and none of its own beside it: what stands behind it may turn down any other."""
    file = built_in_file(name)
    if name in HERE:
        file = replace(file, values={**file.values, "client_python": sys.executable}, needs=())
    says = {"authorization": "Bearer of-its-caller", "x-of-its-caller": "7"}
    async with Supervisor() as supervisor, RawRouter() as router:
        subject = ClientSubject(replace(file, headers=says), supervisor)
        instance = await subject.start([("127.0.0.1", int(router.url.rpartition(":")[2]))])
        try:
            await instance.call(file.spec.plain, 1, file.spec.ceiling_ms)
        finally:
            await instance.stop()
    fields = [line.partition(b": ")[::2] for line in router.heads[0].split(b"\r\n")[1:] if line]
    came = sorted((key.decode().lower(), value.decode()) for key, value in fields)
    assert [each for each in came if each[0] in says] == sorted(says.items())
    assert [key for key, _ in came if key.endswith("-key")] == []


async def test_the_adapter_in_the_documents_is_whole(tmp_path: Path) -> None:
    """With the file beside it, as they stand there; it has some 30 lines."""
    text = DOCUMENT.read_text().partition("## A client\n")[2]
    adapter, toml = (re.findall(rf"```{kind}\n(.*?)```", text, re.S)[0] for kind in ("python", "toml"))
    (tmp_path / "my_client.py").write_text(adapter)
    (tmp_path / "mine.toml").write_text(toml)
    assert await lived_through(load_subject_file(tmp_path / "mine.toml")) == ONCE
    assert len([line for line in adapter.splitlines() if line]) <= 35


def test_every_client_has_its_adapter_and_says_what_to_install() -> None:
    """The adapter is beside the files, so that it is installed with them."""
    for name in clients():
        file = built_in_file(name)
        named = [word for word in (*file.command, *file.needs, file.install) if "{here}/clients" in word]
        paths = [re.search(r"\{here\}/(clients/[\w./-]+)", word) for word in named]
        assert paths, name
        assert all(found is not None and (BUILT_IN / found[1]).exists() for found in paths), name
        assert file.install, name
        assert file.version, name


def test_the_environment_names_no_proxy_to_a_subject(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that it talks to is on this machine."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    assert {"HTTP_PROXY", "https_proxy"} & set(environment()) == set()
    assert set(environment()) <= set(os.environ)
