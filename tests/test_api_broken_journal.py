"""A server whose journal breaks down, by a defect, ends and leaves nobody waiting."""

import asyncio
from pathlib import Path

import pytest

from forwarder.__main__ import COULD_NOT_RUN
from tests.api_server import SAMPLED, running
from tests.broken_journal import SAYS
from tests.raw_router import SILENCE, RawRouter


async def test_a_server_whose_journal_breaks_down_resolves_what_is_in_flight_and_ends_with_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Polls are answered; what is not known may have run; and the exit code says that it could not go on."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent.parent))
    flags = ("--store", f"sqlite:{tmp_path / 'store.db'}", "--no-access-log")
    async with (
        asyncio.timeout(60),
        RawRouter([SAMPLED, SILENCE]) as router,
        running(
            "--router", router.url, *flags, stderr=asyncio.subprocess.PIPE, module="tests.broken_journal"
        ) as server,
    ):
        sampling = await server.session()
        landed = await server.submit(sampling, 0)
        waits = await server.poll(await server.submit(sampling, 1))
        assert (await (await server.poll(landed)).answer()).status == 200
        assert (await waits.answer()).json["executed"] == "unknown"
        assert server.process.stderr is not None
        lines = (await server.process.stderr.read()).decode().splitlines()
        assert await server.ended() == COULD_NOT_RUN
    assert len(lines) == 1
    assert SAYS in lines[0]
