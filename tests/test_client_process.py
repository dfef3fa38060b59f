"""A client is started, told what to do and ended as its file says, or refused with what was expected."""

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from faults.plan import PlannedOperation
from faults.vocabulary import Leaving
from suites.client_process import ClientInstance, ClientSubject
from suites.history import Arrival, Kind
from suites.leaving import Leave
from suites.processes import Supervisor
from suites.subject import SubjectError
from suites.subject_file import load_subject_file
from suites.subject_reader import SubjectFileError

CEILING_MS = 20_000
NOWHERE = [("127.0.0.1", 1)]
ADAPTER = """
import json, os, sys
def say(**outcome): print(json.dumps(outcome), flush=True)
{first}
said = []
for line in sys.stdin:
    operation = json.loads(line)
    said.append(operation["id"])
    {then}
"""
READY = "say(ready=True)"
Make = Callable[..., ClientSubject]


@pytest.fixture
async def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Make]:
    """Makes subjects; after the test no folder of theirs is left."""
    folders = tmp_path / "folders"
    folders.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folders))
    async with Supervisor(grace_ms=200) as supervisor:

        def make(then: str, first: str = READY, **keys: object) -> ClientSubject:
            table = {
                "name": "mine",
                "asked": "json-lines",
                "command": ["{python}", "-I", "-S", "{dir}/adapter.py"],
                "speaks": "openai-completions",
                "promises": "transparent",
                "connect_timeout_ms": 300,
                "read_timeout_ms": 300,
                **keys,
            }
            text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in table.items())
            text += f"files.'adapter.py' = {json.dumps(ADAPTER.format(first=first, then=then))}\n"
            path = tmp_path / "mine.toml"
            path.write_text(text, "utf-8")
            return ClientSubject(load_subject_file(path), supervisor)

        yield make
    assert list(folders.iterdir()) == []


async def test_operations_are_told_apart_by_their_ids(make: Make) -> None:
    """The second is answered before the first; and a client is idle when all are."""
    then = "if len(said) == 2: [say(id=one, status=200, body=str(one)) for one in reversed(said)]"
    instance = await make(then).start(NOWHERE)
    first = asyncio.ensure_future(instance.call(PlannedOperation(), 70, CEILING_MS))
    await asyncio.sleep(0)
    assert await instance.idle() is False
    second = await instance.call(PlannedOperation(), 71, CEILING_MS)
    assert [(await first).body, second.body] == [b"1", b"2"]
    assert await instance.idle() is True
    await instance.stop()
    assert instance.died() is None


@pytest.mark.parametrize("body_bytes", [0, 300_000])
async def test_the_content_carries_the_operation_and_what_was_sent_is_known(make: Make, body_bytes: int) -> None:
    """The body is a text, as the client is to send it, also where a pipe cannot hold it."""
    then = 'say(id=operation["id"], status=200, body=operation["path"] + operation["body"])'
    instance = await make(then).start(NOWHERE)
    outcome = await instance.call(PlannedOperation(body_bytes=body_bytes), 77, CEILING_MS)
    await instance.stop()
    assert len(outcome.body) > body_bytes
    assert outcome.body.startswith(b"/v1/completions{")
    assert 77 in json.loads(outcome.body.removeprefix(b"/v1/completions"))["prompt"]
    assert outcome.sent is not None
    assert outcome.sent.content is not None


async def test_no_outcome_before_the_ceiling_is_hung_and_keeps_it_busy(make: Make) -> None:
    """Its call is still under way inside it."""
    instance = await make("pass").start(NOWHERE)
    outcome = await instance.call(PlannedOperation(), 77, 50)
    busy = await instance.idle()
    await instance.stop()
    assert (outcome.kind, outcome.arrival, busy) == (Kind.UNKNOWN, Arrival.HUNG, False)


async def test_a_client_that_dies_answers_nothing_and_says_how(make: Make) -> None:
    """For the call that was in flight, and for those that come."""
    instance = await make("os._exit(7)").start(NOWHERE)
    outcomes = [await instance.call(PlannedOperation(), number, CEILING_MS) for number in (77, 78)]
    died, idle = instance.died(), await instance.idle()
    await instance.stop()
    assert {(outcome.kind, outcome.arrival) for outcome in outcomes} == {(Kind.UNKNOWN, Arrival.NOTHING)}
    assert (died, idle) == ("exited with code 7", True)
    assert outcomes[0].says == "its process exited with code 7"


@pytest.mark.parametrize(
    ("first", "message"),
    [
        ("sys.exit('no module named mine')", r"mine exited with code 1; expected \{\"ready\": true\}.*no module named"),
        ("print('hello', flush=True)", r"wrote 'hello' as its first line; expected \{\"ready\": true\}"),
        ("pass", r"mine was not ready within 300 ms; expected"),
    ],
)
async def test_a_client_that_is_not_ready_is_refused(make: Make, first: str, message: str) -> None:
    """With the last that it wrote to stderr."""
    with pytest.raises(SubjectError, match=f"(?s){message}"):
        await make("pass", first, start_ms=300 if first == "pass" else CEILING_MS).start(NOWHERE)


@pytest.mark.parametrize("then", ["print('debug', flush=True)", "say(id=99, status=200)"])
async def test_an_adapter_that_says_what_is_no_outcome_ends_the_examination(make: Make, then: str) -> None:
    """That is no fault of the client's."""
    instance = await make(then).start(NOWHERE)
    for number in (77, 78):
        with pytest.raises(SubjectError, match=r"the adapter of mine wrote .*; expected"):
            await instance.call(PlannedOperation(), number, CEILING_MS)
    await instance.stop()


async def test_nobody_makes_the_caller_of_a_client_leave(make: Make) -> None:
    """What would need that is not run, with the reason."""
    subject = make("pass")
    instance = await subject.start(NOWHERE)
    with pytest.raises(ValueError, match="that leaves"):
        await instance.call(PlannedOperation(), 77, CEILING_MS, Leave(how=Leaving.RESET))
    await instance.stop()
    assert {"leaves", "segments"} <= set(subject.spec.reach)
    assert subject.spec.facts.called
    assert isinstance(instance, ClientInstance)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"ready": "/health"}, "ready is '/health'; expected no such key where it is asked by 'json-lines'"),
        ({"idle": "/health"}, "idle is '/health'; expected no such key"),
        ({"passes_expect": True}, "passes_expect is True; expected no such key"),
        ({"asked": "pigeon"}, "asked is 'pigeon'; expected one of 'http', 'json-lines'"),
        ({"speaks": "tinker", "promises": "answering"}, "speaks is 'tinker'; expected another protocol"),
    ],
)
def test_keys_of_a_server_do_not_go_with_a_client(make: Make, keys: dict[str, object], message: str) -> None:
    """Nor does a protocol that is polled."""
    with pytest.raises(SubjectFileError, match=message):
        make("pass", **keys)


def test_what_it_needs_beside_its_program_is_looked_for(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And how to install it is said with the folder in it."""
    monkeypatch.setenv("RETRYPROOF_SUBJECTS", str(tmp_path))
    subject = make("pass", needs=["{installed}/lib/*/mine"], install="get {installed}/lib")
    assert subject.missing() == f"mine: no '{tmp_path}/lib/*/mine' here; install it: get {tmp_path}/lib"
    (tmp_path / "lib" / "python" / "mine").mkdir(parents=True)
    assert subject.missing() is None
