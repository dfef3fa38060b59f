"""One of several processes that live through the plans of an examination. `retryproof.workers` starts it; nobody else
does.

It ends when its stdin does, in good order, whatever has ended its parent; signals that end a command are its parent's
affair.
"""

import os
import signal
import threading
from asyncio import current_task
from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import TYPE_CHECKING, Self

from fake_router import own_network
from faults.plan import Plan
from retryproof.exits import CommandError, Exit
from retryproof.frames import CallersRequest, Done, Failed, Frame, Lived, Request, read_request
from retryproof.interrupts import SIGNALS
from retryproof.pickles import pickled
from retryproof.sessions import Session, require_subject, with_subject
from retryproof.temporary import temporary_folder
from retryproof.terminal import console
from suites.lanes import run_plans
from suites.numbers import Numbers
from suites.run import Run
from suites.stacks.stack import join_network_of_stacks, leave_network_of_stacks
from suites.subject import SubjectError

if TYPE_CHECKING:
    from retryproof.load_frames import Said  # what it takes is nothing for plans

ENDING_S = 20.0  # how long cleaning up may take once nobody listens any more


class Frames:
    """What goes out, written by a thread of its own: a pipe that is full must not make a run late. What nobody reads
    any more is dropped.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._waiting: SimpleQueue[Frame | Said | None] = SimpleQueue()
        self._writing = threading.Thread(target=self._write, name="frames", daemon=True)

    def __enter__(self) -> Self:
        self._writing.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._waiting.put(None)
        self._writing.join()

    def send(self, frame: "Frame | Said") -> None:
        """It goes out after those before it."""
        self._waiting.put(frame)

    def _write(self) -> None:
        try:
            while (frame := self._waiting.get()) is not None:
                rest = memoryview(pickled(frame))
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]
        except BrokenPipeError:
            return


def main() -> None:
    """Live through what stdin asks for."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    descriptor = os.dup(1)
    os.dup2(2, 1)  # whatever a subject's module prints is no frame
    request = read_request(_read)
    if isinstance(request, CallersRequest):
        from retryproof.load_worker import live_callers  # what it takes is nothing for plans

        with Frames(descriptor) as frames:
            live_callers(frames.send)
    elif request is not None:
        if request.alone_network is not None:
            own_network.inherit(alone=request.alone_network)
        refused = _join() if request.joins else None
        try:
            with Frames(descriptor) as frames:
                if refused is None:
                    _live(request, frames)
                else:
                    frames.send(refused)
        finally:
            leave_network_of_stacks()


def _read(length: int) -> bytes:
    """So many bytes of stdin, fewer at its end; none of what follows."""
    data = bytearray()
    while len(data) < length and (more := os.read(0, length - len(data))):
        data += more
    return bytes(data)


def _join() -> Failed | None:
    """On a network of its own, as one of several: before any thread."""
    try:
        join_network_of_stacks()
    except (SubjectError, OSError) as error:
        return Failed(says=f"--own-network: {error}", code=Exit.COULD_NOT_RUN)
    return None


def _live(request: Request, frames: Frames) -> None:
    """One word at the end: what became of it as a whole."""
    ended = threading.Event()
    plans: list[Plan] = [plan for _, plan in request.plans]

    def add(index: int, run: Run) -> None:
        frames.send(Lived(place=request.plans[index][0], run=run))

    async def work(session: Session) -> None:
        _cancel_when_left(ended)
        if request.expected is not None:
            await request.expected.require(session)
        await run_plans(session.driver, plans, add, lanes=request.lanes)

    try:
        with _name_of(request) as name:
            require_subject(name, request.given)  # where it began there is such a subject; here it may be none
            with_subject(
                *(name, work, request.given),
                console=console(quiet=True),
                toxiproxy=request.toxiproxy,
                numbers=Numbers(request.first_number),
            )
        frames.send(Done())
    except CommandError as error:
        frames.send(Failed(says=str(error), code=error.code))
    except Exception as error:  # noqa: BLE001  # a bug of ours is told by the parent, as one of its own
        frames.send(Failed(says=f"internal error in a worker process: {error!r}", code=Exit.COULD_NOT_RUN))
    finally:
        ended.set()


@contextmanager
def _name_of(request: Request) -> Iterator[str]:
    """By which the subject is found here: as long as this lasts, so are the files that came with it."""
    if request.travelling is None:
        yield request.name
        return
    with temporary_folder() as folder:
        yield request.travelling.unpacked(folder)


def _cancel_when_left(ended: threading.Event) -> None:
    """From now on the end of stdin cancels the task that calls this; what then hangs is ended with this process."""
    task = current_task()
    assert task is not None

    def watch() -> None:
        os.read(0, 1)  # not as a buffered file: its lock would be in the way when this process ends
        if not ended.is_set():
            task.get_loop().call_soon_threadsafe(task.cancel)
            if not ended.wait(ENDING_S):
                os._exit(Exit.COULD_NOT_RUN)

    threading.Thread(target=watch, name="stdin", daemon=True).start()
