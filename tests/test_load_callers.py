"""Callers of a load, each against a server of a few lines: what is written, what comes, and what is believed of it."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path

import msgspec
import pytest
import trustme

from fake_router.completions import completion
from suites.load.asked import Callers
from suites.load.calling import Calling, Recording
from suites.load.connection import Answer, BrokenError
from suites.load.ended import Ended, Tally, tally_in
from suites.load.line import Gate, Line
from suites.load.order import RECORDS, Claim, Order
from suites.load.plain import told
from suites.load.progress import Count, Progress
from suites.load.template import ID, ITERATION, NUMBER, SEQ, Template
from suites.request import Request

_NO_TLS = "no TLS: CERTIFICATE_VERIFY_FAILED"
_Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def _serving(serve: _Serve, tls: ssl.SSLContext | None = None) -> AsyncIterator[tuple[str, int]]:
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    async with server:
        yield server.sockets[0].getsockname()[:2]


def _order(address: tuple[str, int], **more: object) -> Order:
    known = {
        "index": 0,
        "processes": 1,
        "slots": 2,
        "operations": 6,
        "callers": Callers.PLAIN,
        "instances": [address],
        "sources": ["127.9.0.1"],
        "connecting": 4,
        "give_up_s": 30.0,
        "patience_s": 30.0,
        "leave_every": 0,
        "target": "/v1/completions",
        "body": f'{{"prompt":[31337,{NUMBER}]}}',
    }
    return msgspec.convert({**known, **more}, Order)


async def _called(order: Order, folder: Path) -> tuple[Tally, dict[Count, int]]:
    with closing(Recording(folder)) as recording, Progress(folder, made=True) as progress:
        calling = Calling(order, recording, progress)
        await calling.connect()
        await calling.run()
        return tally_in(folder / RECORDS, tuple(recording.whys)), progress.read()


def _answer(body: bytes, status: str = "200 OK") -> bytes:
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status.encode(), len(body), body)


async def _operation_in(reader: asyncio.StreamReader) -> int | None:
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    return int((await reader.readexactly(length)).rpartition(b",")[2].strip(b"]}"))


async def _right(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            writer.write(_answer(completion(await _operation_in(reader) or 0, 7, 1)))
    except asyncio.IncompleteReadError:
        writer.close()


@pytest.mark.parametrize(("trusted", "ends"), [(True, {(Ended.OK, "")}), (False, {(Ended.UNKNOWN, _NO_TLS)})])
async def test_callers_speak_tls_with_whom_they_believe(
    trusted: bool, ends: set[tuple[Ended, str]], tmp_path: Path
) -> None:
    """With nobody else: to them nothing is sent."""
    ca, tls = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ca.issue_cert("127.0.0.1").configure_cert(tls)
    believed = (ca if trusted else trustme.CA()).cert_pem.bytes().decode()
    async with _serving(_right, tls) as address:
        tally, counts = await _called(_order(address, tls=True, ca=believed), tmp_path)
    assert {(Ended(one["ended"]), ("", *tally.whys)[one["why"]]) for one in tally.records} == ends
    assert (len(tally.records), counts[Count.CONNECTS]) == (6, 2 if trusted else 0)


async def test_every_operation_is_asked_for_once_over_connections_that_are_kept(tmp_path: Path) -> None:
    """One connection for each slot, from the address that it was told."""
    async with _serving(_right) as address:
        tally, counts = await _called(_order(address), tmp_path)
    assert sorted(tally.records["number"]) == [1, 2, 3, 4, 5, 6]
    assert set(tally.records["ended"]) == {Ended.OK}
    assert (counts[Count.CONNECTS], counts[Count.DONE], counts[Count.FAILED]) == (2, 6, 0)


async def test_a_caller_of_a_server_that_closes_connects_again(tmp_path: Path) -> None:
    """And what had no answer is lost to it: it sends nothing twice."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = await _operation_in(reader)
        if number != 3:
            writer.write(
                _answer(completion(number or 0, 7, 1)).replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1)
            )
        writer.close()

    async with _serving(serve) as address:
        tally, counts = await _called(_order(address), tmp_path)
    lost = tally.records[tally.records["ended"] != Ended.OK]
    assert [(int(one["number"]), Ended(one["ended"])) for one in lost] == [(3, Ended.UNKNOWN)]
    assert tally.whys == ("its connection was ended before its answer",)
    assert counts[Count.BROKEN] == 1
    assert counts[Count.CONNECTS] == 6


async def test_a_refused_connection_is_a_failure_of_its_own(tmp_path: Path) -> None:
    """Nobody listens there any more."""
    async with _serving(_right) as address:
        pass
    tally, counts = await _called(_order(address, operations=2), tmp_path)
    assert set(tally.records["ended"]) == {Ended.UNKNOWN}
    assert tally.whys == ("no connection: connection refused",)
    assert counts[Count.REFUSED] == 4


async def test_what_takes_too_long_is_given_up(tmp_path: Path) -> None:
    """Its caller has no answer."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async with _serving(serve) as address:
        tally, _ = await _called(_order(address, operations=2, give_up_s=0.01), tmp_path)
    assert set(tally.records["ended"]) == {Ended.NO_ANSWER}


async def test_what_is_in_flight_at_a_subject_that_has_ended_is_given_up(tmp_path: Path) -> None:
    """It is recorded, and nothing else is asked for."""
    came = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _operation_in(reader)
        came.set()
        await reader.read()
        writer.close()

    async with _serving(serve) as address:
        with closing(Recording(tmp_path)) as recording, Progress(tmp_path, made=True) as progress:
            calling = Calling(_order(address, slots=1), recording, progress)
            running = asyncio.create_task(calling.run())
            await came.wait()
            calling.give_up()
            await running
            tally = tally_in(tmp_path / RECORDS, tuple(recording.whys))
    assert [(int(one["number"]), Ended(one["ended"])) for one in tally.records] == [(1, Ended.GIVEN_UP)]
    assert tally.whys == ("a process of the subject has ended",)


@pytest.mark.parametrize(
    ("answer", "ended", "why"),
    [
        (Answer(200, b"", completion(5, 9, 1)), Ended.OK, ""),
        (Answer(200, b"", completion(6, 9, 1)), Ended.GARBAGE, "200 with a result that is not its operation's"),
        (Answer(200, b"", b"<html>"), Ended.GARBAGE, "200 with no completion"),
        (Answer(200, b"", b'{"choices":[]}'), Ended.GARBAGE, "200 with no completion"),
        (Answer(503, b"", b"nobody is there"), Ended.NOT_EXECUTED, "status 503"),
        (Answer(503, b"", b"somebody is there"), Ended.UNKNOWN, "status 503"),
        (Answer(302, b"", b""), Ended.UNKNOWN, "status 302"),
    ],
)
def test_what_a_caller_believes_of_an_answer(answer: Answer, ended: Ended, why: str) -> None:
    """A success is its own operation's, and a failure claims what its markers say."""
    said = told(answer, 5, [Claim(status=503, body="nobody")])
    assert (said.ended, said.why) == (ended, why)


def test_a_template_is_filled_anew_for_each_operation() -> None:
    """Numbers and ids, in head and body, and a length that fits; a percent sign is one."""
    request = Request(target="/a%20b", body=f"{NUMBER} {SEQ} {ID} 100%".encode(), headers={"X-N": str(ITERATION)})
    template = Template(request, "h:1")
    assert template.filled({b"number": 7, b"seq": 11, b"id": b"x", b"iteration": 2}) == (
        b"POST /a%20b HTTP/1.1\r\nHost: h:1\r\nX-N: 2\r\nContent-Length: 11\r\n\r\n7 11 x 100%"
    )


async def test_an_answer_may_come_in_any_parts_and_framings(tmp_path: Path) -> None:
    """Chunked, byte by byte behind an interim answer, or ended by its connection."""
    whole = completion(1, 7, 1)
    framings = [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(whole), whole),
        b"HTTP/1.1 103 Early Hints\r\n\r\n" + _answer(whole),
        b"HTTP/1.1 200 OK\r\n\r\n" + whole,
    ]

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        for byte in framings.pop():
            writer.write(bytes([byte]))
            await writer.drain()
        writer.close()

    async with _serving(serve) as address:
        with Progress(tmp_path, made=True) as progress:
            for _ in range(3):
                line = Line(Gate(address, 1, progress), "", progress)
                answer = await line.ask(b"POST / HTTP/1.1\r\n\r\n", 30)
                line.close()
                assert answer is not None
                assert answer.body == whole
    assert framings == []


@pytest.mark.parametrize(
    "cut",
    [
        b"HTTP/1.1 2",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
    ],
)
async def test_an_answer_that_is_cut_is_none(cut: bytes, tmp_path: Path) -> None:
    """Inside its head, before or behind what would frame its body, or inside a body that is framed."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(cut)
        writer.close()

    async with _serving(serve) as address:
        with Progress(tmp_path, made=True) as progress:
            line = Line(Gate(address, 1, progress), "", progress)
            with pytest.raises(BrokenError, match="its connection was ended inside its answer"):
                await line.ask(b"POST / HTTP/1.1\r\n\r\n", 30)
            line.close()


def test_operations_are_numbered_apart_and_bound_to_instances_in_turn() -> None:
    """Over two processes and three instances."""
    orders = [_order(("h", 1), index=n, processes=2, instances=[("h", 1), ("h", 2), ("h", 3)]) for n in range(2)]
    assert [[order.number(nth) for nth in range(3)] for order in orders] == [[1, 3, 5], [2, 4, 6]]
    assert [[order.instance_of(slot) for slot in range(3)] for order in orders] == [[0, 2, 1], [1, 0, 2]]
