"""The process of the SDK: what is said where the SDK is not installed, and when its process is gone."""

import asyncio
import contextlib
from pathlib import Path

import pytest

import suites.tinker_sdk.bench
from suites.bench import Bench, NotRunError
from suites.tinker_sdk import process
from suites.tinker_sdk.bench import SdkBench, Transport
from suites.tinker_sdk.process import SdkError, SdkProcess
from suites.tinker_sdk.scenarios import SCENARIOS

PLAIN = """
name = "plain"
command = ["{python}"]
speaks = "tinker"
promises = "futures"
connect_timeout_ms = 300
read_timeout_ms = 300
quiet_ms = 400
"""
SESSIONS = b'{"session_id":"s","sampling_session_id":"x"}'  # the answer to all that a client asks at first
HEADER_OF = {
    False: "host:",
    True: "Host:",
}  # hyper, under pyqwest, writes small letters; h11, under httpx, as it is told


def test_without_the_sdk_there_is_one_line_that_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is started, and to pytest it is a skip."""
    monkeypatch.setattr(process, "find_spec", lambda name: None)
    with Bench.open("reference-server", 1) as bench:  # noqa: SIM117  # it is the inner one that raises
        with pytest.raises(NotRunError) as raised, SdkBench.open(bench):
            raise AssertionError("it was opened without the SDK")
    assert str(raised.value) == f"not_run: the real Tinker SDK is not installed; {process.INSTALL}"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("polls meet 408", "its clock is not the suites': `options` under [futures] give it none ({clock_ms})"),
        ("router not accepting", "its router publishes no answer that means `not accepted`"),
    ],
)
def test_what_a_subject_gives_no_means_for_is_not_run(
    name: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the reason, before the SDK is told anything."""
    monkeypatch.setattr(suites.tinker_sdk.bench, "missing", lambda: None)
    file = tmp_path / "plain.toml"
    file.write_text(PLAIN)
    (scenario,) = (one for one in SCENARIOS if one.name == name)
    with (
        Bench.open(str(file), 1) as bench,
        SdkBench.open(bench) as sdk,
        pytest.raises(NotRunError) as raised,
    ):
        sdk.holds(scenario, Transport.HTTPX)
    assert str(raised.value) == f"not_run: {says}"


async def test_a_process_that_ends_by_itself_fails_what_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the last that it wrote; and so does whatever is asked later."""
    monkeypatch.setattr(process, "ADAPTER", "suites.tinker_sdk.no_such_module")
    async with SdkProcess.open() as sdk:
        for _ in range(2):
            with pytest.raises(
                SdkError, match=r"(?s)has ended with code 1[.].*No module named suites.tinker_sdk.no_such"
            ):
                await sdk.client("http://127.0.0.1:1", httpx=False, headers={})


@pytest.mark.tinker
async def test_both_transports_of_the_sdk_are_had_and_told_apart_on_the_wire() -> None:
    """The server's client/config leaves it pyqwest; and it sends the headers that it is given."""
    heads: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, OSError), contextlib.closing(writer):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                heads.append(head)
                await reader.readexactly(int(head.lower().partition("content-length: ")[2].partition("\r")[0]))
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
                writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(SESSIONS), SESSIONS))

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server, SdkProcess.open() as sdk:
        port = server.sockets[0].getsockname()[1]
        for httpx, host in HEADER_OF.items():
            client = await sdk.client(f"http://127.0.0.1:{port}", httpx=httpx, headers={"X-Mine": "1"})
            assert client.pyqwest is not httpx
            lines = heads[-1].split("\r\n")
            assert lines[0] == "POST /api/v1/create_sampling_session HTTP/1.1"
            assert [line[:5] for line in lines if line.lower().startswith("host:")] == [host]
            assert [line.lower() for line in lines if line.lower().startswith("x-mine")] == ["x-mine: 1"]
            sdk.close(client)
