"""One caller process: `python -m suites.load.caller FOLDER`, where its order lies.

It makes a file READY when its callers are connected, begins at SIGUSR1, and makes a file DONE when all is recorded. It
stays, so that it can still be looked at, until SIGTERM, which ends it at any time with what has been recorded so far.
At SIGUSR2 it gives up what is in flight, and asks for nothing else.
Exit codes: 0 it was ended; 4 it could not go on, and one line on standard error says why.
"""

import asyncio
import signal
import sys
from contextlib import closing
from pathlib import Path

import msgspec
import uvloop

from suites.load.calling import Calling, Recording
from suites.load.line import NoPortError
from suites.load.order import SUMMARY, Summary, read_order
from suites.load.progress import Progress
from suites.load.sdk import NoSessionError

READY, DONE = "ready", "done"  # files in its folder
COULD_NOT_RUN = 4


def main(folder: Path) -> int:
    """Do what the order in that folder says; the exit code."""
    with Progress(folder) as progress:
        try:
            with closing(Recording(folder)) as recording:
                try:
                    uvloop.run(_run(folder, recording, progress))
                finally:
                    _record(folder, recording)
        except (NoSessionError, NoPortError, OSError) as error:
            print(f"{error}", file=sys.stderr)
            return COULD_NOT_RUN
    return 0


async def _run(folder: Path, recording: Recording, progress: Progress) -> None:
    loop, begin = asyncio.get_running_loop(), asyncio.Event()
    calling = Calling(read_order(folder), recording, progress)
    work = asyncio.create_task(_work(calling, folder, recording, begin))
    loop.add_signal_handler(signal.SIGUSR1, begin.set)
    loop.add_signal_handler(signal.SIGUSR2, calling.give_up)
    loop.add_signal_handler(signal.SIGTERM, work.cancel)
    try:
        await work
    except asyncio.CancelledError:
        return  # it was ended


async def _work(calling: Calling, folder: Path, recording: Recording, begin: asyncio.Event) -> None:
    await calling.connect()
    (folder / READY).touch()
    await begin.wait()
    await calling.run()
    _record(folder, recording)
    (folder / DONE).touch()
    await asyncio.get_running_loop().create_future()


def _record(folder: Path, recording: Recording) -> None:
    """All that it has to say is in its folder."""
    recording.flush()
    (folder / SUMMARY).write_bytes(msgspec.json.encode(Summary(whys=recording.whys)))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
