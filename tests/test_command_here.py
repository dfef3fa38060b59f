"""The command in a folder that holds somebody else's code."""

from pathlib import Path

from tests.command_process import Place

MINE = """
import aiohttp

RETRYPROOF = {"promises": "transparent"}

class Mine:
    def __init__(self, urls):
        self.url = urls[0]

    async def call(self, request):
        async with aiohttp.ClientSession(raise_for_status=True) as session:
            async with session.post(self.url + "/v1/completions", json=request) as response:
                return await response.read()
"""


def test_what_is_called_like_ours_in_the_folder_where_it_is_called_is_not_ours(tmp_path: Path) -> None:
    """Not by `python -m` either, nor in its workers; what a subject names there is found all the same."""
    for name in ("faults", "fake_router", "forwarder", "suites", "signoff", "uvloop"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('somebody else')")
    (tmp_path / "mine.py").write_text(MINE)
    end = Place(path=tmp_path).run("check", "mine:Mine", "--only", "status/500-*/first", "--jobs", "2", "--out", "out")
    assert (end.code, end.err) == (0, "")
