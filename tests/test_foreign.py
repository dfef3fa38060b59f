"""A subject file is started, called and ended as it says, or refused with what was expected and what to do."""

import asyncio
import json
import re
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from faults.plan import PlannedOperation
from suites.foreign import ForeignSubject
from suites.history import Arrival, Kind
from suites.processes import Supervisor
from suites.programs import environment
from suites.subject import SubjectError
from suites.subject_file import load_subject_file
from suites.workload import completion_request

CEILING_MS = 20_000

# Answers a GET with the status {health}, every POST with the reply; keeps the last request.
SERVER = r"""
import os, socket, sys
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("{host}", {port}))
listener.listen()
while True:
    connection, _ = listener.accept()
    with connection:
        request = b""
        while not (request.endswith(b"}") or request.startswith(b"GET") and b"\r\n\r\n" in request):
            data = connection.recv(65536)
            if not data: break
            request += data
        if request.startswith(b"GET"):
            connection.sendall(b"HTTP/1.1 {health}\r\n\r\n" + b'{"in_flight": {in_flight}}')
        elif request:
            open("request", "wb").write(request)
            if b"{reply}" == b"die": os._exit(7)
            if b"{reply}" == b"hang": connection.recv(1)
            connection.sendall(b"HTTP/1.1 {reply}")
"""

WHOLE = "200 OK\r\ncontent-length: 2\r\n\r\n{}"
Make = Callable[..., ForeignSubject]


@pytest.fixture
async def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Make]:
    """Makes subjects; after the test no folder of theirs is left."""
    folders = tmp_path / "folders"
    folders.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folders))
    async with Supervisor(grace_ms=200) as supervisor:

        def make(reply: str = WHOLE, *, health: str = "200 OK", in_flight: str = "0", **keys: object) -> ForeignSubject:
            table: dict[str, object] = {
                "name": "mine",
                "command": ["{python}", "-I", "-S", "{dir}/sub/server.py"],
                "speaks": "openai-completions",
                "promises": "answering",
                "connect_timeout_ms": 300,
                "read_timeout_ms": 300,
                "quiet_ms": 0,
                **keys,
            }
            text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in table.items())
            text += 'says.not_executed = [{ status = 502, body = "not sent" }]\n'
            text += (
                f"values.reply = {json.dumps(reply.encode('unicode_escape').decode())}\nvalues.health = '{health}'\n"
            )
            text += f"values.in_flight = '{in_flight}'\n"
            text += f"files.'sub/server.py' = '''{SERVER}'''\n"
            path = tmp_path / "mine.toml"
            path.write_text(text, "utf-8")
            return ForeignSubject(load_subject_file(path), supervisor)

        yield make
    assert list(folders.iterdir()) == []


@pytest.mark.parametrize(
    ("reply", "kind", "arrival", "status"),
    [
        (WHOLE, Kind.OK, Arrival.WHOLE, 200),
        ("201 Created\r\ncontent-length: 2\r\n\r\n{}", Kind.OK, Arrival.WHOLE, 201),
        ("200 OK\r\ncontent-length: 9\r\n\r\n{}", Kind.UNKNOWN, Arrival.CUT, 200),
        ("302 Found\r\ncontent-length: 0\r\n\r\n", Kind.UNKNOWN, Arrival.WHOLE, 302),
        ("502 Bad\r\ncontent-length: 8\r\n\r\nnot sent", Kind.FAILED, Arrival.WHOLE, 502),
        ("502 Bad\r\ncontent-length: 4\r\n\r\nlost", Kind.UNKNOWN, Arrival.WHOLE, 502),
        ("502 Bad\r\ncontent-length: 99\r\n\r\nnot sent", Kind.UNKNOWN, Arrival.CUT, 502),
        ("503 Bad\r\ncontent-length: 8\r\n\r\nnot sent", Kind.UNKNOWN, Arrival.WHOLE, 503),
        ("die", Kind.UNKNOWN, Arrival.NOTHING, None),
    ],
)
async def test_an_answer_means_what_the_file_says_and_no_more(
    make: Make, reply: str, kind: Kind, arrival: Arrival, status: int | None
) -> None:
    instance = await make(reply).start([("127.0.0.1", 1)])
    outcome = await instance.call(PlannedOperation(), 77, CEILING_MS)
    await instance.stop()
    assert (outcome.operation, outcome.kind, outcome.arrival, outcome.status) == (77, kind, arrival, status)
    assert 0 < outcome.invoked_at_ns < outcome.ended_at_ns


async def test_no_answer_before_the_ceiling_is_hung(make: Make) -> None:
    instance = await make("hang").start([("127.0.0.1", 1)])
    outcome = await instance.call(PlannedOperation(), 77, 100)
    await instance.stop()
    assert (outcome.kind, outcome.arrival) == (Kind.UNKNOWN, Arrival.HUNG)


async def test_a_call_carries_its_operation_in_the_content(make: Make) -> None:
    instance = await make().start([("127.0.0.1", 1)])
    await instance.call(PlannedOperation(segments=2), 77, CEILING_MS)
    head, body = (instance.folder / "request").read_bytes().split(b"\r\n\r\n")
    await instance.stop()
    assert head.startswith(b"POST /v1/completions HTTP/1.1\r\n")
    assert json.loads(body) == completion_request(77)


async def test_a_subject_that_is_stopped_twice_has_not_died_and_its_port_is_free(make: Make) -> None:
    instance = await make().start([("127.0.0.1", 1)])
    assert (await instance.idle(), instance.died()) == (None, None)
    await instance.stop()
    await instance.stop()
    assert instance.died() is None
    outcome = await instance.call(PlannedOperation(), 1, CEILING_MS)
    assert (outcome.arrival, outcome.says) == (Arrival.NOTHING, "no connection: Connection refused")


@pytest.mark.parametrize(("in_flight", "idle"), [("0", True), ("2", False)])
async def test_a_subject_that_tells_what_is_in_flight_is_asked_for_it(make: Make, in_flight: str, idle: bool) -> None:
    instance = await make(idle="/idle", in_flight=in_flight).start([("127.0.0.1", 1)])
    assert await instance.idle() is idle
    await instance.stop()


async def test_a_subject_that_does_not_tell_is_refused_once_it_is_ready(make: Make) -> None:
    """It would cost the ceiling in every run."""
    with pytest.raises(SubjectError, match=r"mine: asked at '/idle' .* answered 200 with b'.*; correct `idle`, or say"):
        await make(idle="/idle", in_flight="?").start([("127.0.0.1", 1)])


async def test_a_subject_that_died_is_idle_where_it_could_have_told(make: Make) -> None:
    instance = await make("die", idle="/idle", in_flight="2").start([("127.0.0.1", 1)])
    await instance.call(PlannedOperation(), 1, CEILING_MS)
    assert instance.process
    await asyncio.wait_for(instance.process.ended.wait(), CEILING_MS / 1000)
    assert await instance.idle() is True
    await instance.stop()


async def test_a_subject_that_dies_under_a_call_says_how(make: Make) -> None:
    instance = await make("die").start([("127.0.0.1", 1)])
    await instance.call(PlannedOperation(), 1, CEILING_MS)
    assert instance.process
    await asyncio.wait_for(instance.process.ended.wait(), CEILING_MS / 1000)
    assert instance.died() == "exited with code 7"
    await instance.stop()


@pytest.mark.parametrize(
    ("alone", "expected"),
    [(False, "SO_REUSEADDR"), (True, "changes no user: .*run this as root, or without --own-net")],
)
async def test_a_subject_that_dies_at_start_is_refused_with_its_last_words(
    make: Make, monkeypatch: pytest.MonkeyPatch, alone: bool, expected: str
) -> None:
    """Where there is no other user, that is what it most likely died of."""
    monkeypatch.setattr("fake_router.own_network._alone", alone)
    script = "import sys; print('line one'); sys.exit('no such option: --prot')"
    subject = make(command=["{python}", "-I", "-S", "-c", script])
    message = rf"mine exited with code 1 before it was ready; expected .*{expected}.*no such option: --prot"
    with pytest.raises(SubjectError, match=re.compile(message, re.DOTALL)):
        await subject.start([("127.0.0.1", 1)])


async def test_a_subject_that_never_listens_is_refused(make: Make) -> None:
    subject = make(command=["sleep", "60"], start_ms=100)
    expected = r"mine was not ready within 100 ms; expected 'tcp' to succeed on 127\.0\.0\.1:\d+; .* It wrote nothing"
    with pytest.raises(SubjectError, match=expected):
        await subject.start([("127.0.0.1", 1)])


async def test_a_subject_whose_health_path_never_answers_200_is_refused(make: Make) -> None:
    subject = make(health="503 No", ready="/health", start_ms=300)
    with pytest.raises(SubjectError, match="not ready within 300 ms; expected '/health' to succeed"):
        await subject.start([("127.0.0.1", 1)])


async def test_a_subject_is_ready_when_its_health_path_answers_200(make: Make) -> None:
    instance = await make(ready="/health").start([("127.0.0.1", 1)])
    outcome = await instance.call(PlannedOperation(), 1, CEILING_MS)
    await instance.stop()
    assert outcome.kind is Kind.OK


async def test_a_missing_program_is_refused_with_what_to_install(make: Make) -> None:
    subject = make(command=["no-such-program"], install="apt-get install no-such-package")
    assert subject.missing() == "mine: no 'no-such-program' on PATH; install it: apt-get install no-such-package"
    with pytest.raises(SubjectError, match="no-such-package"):
        await subject.start([("127.0.0.1", 1)])


def test_a_program_that_cannot_be_run_is_told_from_one_that_is_not_there(make: Make, tmp_path: Path) -> None:
    """A script that its owner has just written lacks a bit, and nothing is to be installed."""
    script = tmp_path / "my forwarder"
    assert make(command=[f"{script}"]).missing() == f"mine: no {f'{script}'!r} here; install it, or correct `command`"
    script.write_text("#!/bin/sh\n")
    assert make(command=[f"{script}"]).missing() == (
        f"mine: {f'{script}'!r} is not executable; expected a program: chmod +x '{script}'"
    )
    script.chmod(0o755)
    assert make(command=[f"{script}"]).missing() is None


async def test_a_program_is_found_beside_this_python_and_where_servers_lie(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An ordinary user's PATH has no /usr/sbin, and a virtual environment need not be activated."""
    monkeypatch.setenv("PATH", "/some/bin:/nowhere")
    assert make(command=[Path(sys.executable).name]).missing() is None
    assert environment()["PATH"].split(":") == ["/some/bin", "/nowhere", str(Path(sys.executable).parent), "/some/sbin"]


async def test_a_program_that_cannot_be_executed_is_refused(make: Make, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("neither a script nor a binary")
    script.chmod(0o755)
    with pytest.raises(SubjectError, match=r"mine did not start: .*Exec format error"):
        await make(command=[str(script)]).start([("127.0.0.1", 1)])


async def test_the_version_is_the_first_line_that_its_command_writes(make: Make) -> None:
    subject = make(version=["sh", "-c", "echo mine 1.2 >&2; echo more"])
    assert subject.spec.version == ""
    await (await subject.start([("127.0.0.1", 1)])).stop()
    assert subject.spec.version == "mine 1.2"


@pytest.mark.parametrize(
    ("version", "known"),
    [(["true"], r"unknown \('true' wrote nothing\)"), (["no-such-program"], r"unknown \(.*No such file")],
)
async def test_a_version_that_cannot_be_read_stops_nothing(make: Make, version: list[str], known: str) -> None:
    subject = make(version=version)
    await (await subject.start([("127.0.0.1", 1)])).stop()
    assert re.match(known, subject.spec.version)


async def test_the_wrong_number_of_upstreams_is_refused(make: Make) -> None:
    with pytest.raises(ValueError, match="2 upstreams; expected 1"):
        await make().start([("127.0.0.1", 1), ("127.0.0.1", 2)])


async def test_several_instances_live_side_by_side(make: Make) -> None:
    subject = make()
    instances = await asyncio.gather(*(subject.start([("127.0.0.1", 1)]) for _ in range(4)))
    outcomes = await asyncio.gather(
        *(each.call(PlannedOperation(), n + 1, CEILING_MS) for n, each in enumerate(instances))
    )
    await asyncio.gather(*(each.stop() for each in instances))
    assert [outcome.kind for outcome in outcomes] == [Kind.OK] * 4
    assert len({each.address for each in instances}) == 4
