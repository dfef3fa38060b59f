"""A journal in SQLite, on a thread of its own: the loop never waits for the disk.

What comes while one transaction is being committed goes into the next one, together: the disk is waited for once for
many. WAL, and each commit is synced: what is durable outlives a power cut.
"""

import asyncio
import fcntl
import os
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from io import FileIO
from queue import Empty, SimpleQueue
from threading import Thread

from forwarder.futures.entries import Entry, Finished, Recovered
from forwarder.futures.errors import JournalError
from forwarder.futures.journal import Done, heedless
from forwarder.futures.outcome import Sampled
from forwarder.futures.sqlite_rows import recovered_from
from forwarder.futures.sqlite_schema import connected, prepare
from forwarder.futures.sqlite_writer import Verdict, Writer

BUSY_MS = 20_000  # how long another process (a backup, say) may hold the file before what is to be written is refused
_MOST_ENTRIES = 1000
_MOST_BYTES = 16 * 1024 * 1024  # in one transaction, or a little more
_Written = tuple[Entry, Done]


class SqliteJournal:
    """One process at a time has it: a lock lies beside the file. It belongs to the loop on which it is loaded."""

    def __init__(self, path: str, *, busy_ms: int = BUSY_MS) -> None:
        self._path = path
        self._busy_ms = busy_ms
        self._queue: SimpleQueue[_Written | None] = SimpleQueue()
        self._untold = 0
        self._closed = False
        self.broken: JournalError | None = None  # by a defect: nothing is written any more, and nobody waits for it
        self._all_told = asyncio.Event()
        self._ended = asyncio.Event()
        self._thread: Thread | None = None
        self._lock: FileIO | None = None
        self._connection: sqlite3.Connection | None = None
        self._writer: Writer | None = None

    @property
    def unwritten(self) -> int:
        """Outcomes that could not be written, and are kept to be written later."""
        return len(self._writer.late) if self._writer is not None else 0

    def load(self) -> Recovered:
        """Open it and read it; a file that is not there is made. Raises JournalError."""
        try:
            self._lock = _locked(self._path)
            self._connection = connected(self._path, self._busy_ms)
            prepare(self._connection, self._path)
            recovered = recovered_from(self._connection, self._path)
            self._writer = Writer(connected(self._path, self._busy_ms), self._path)
        except (OSError, sqlite3.Error) as error:
            self._let_go()
            raise JournalError(f"cannot open the journal {self._path!r}: {error}") from None
        except JournalError:
            self._let_go()
            raise
        run = (asyncio.get_running_loop(), self._writer)
        self._thread = Thread(target=self._run, args=run, name="journal", daemon=True)
        self._thread.start()
        return recovered

    def write(self, entry: Entry, done: Done = heedless) -> None:
        """Write it down; `done` is called on the loop when it is durable, or will not be."""
        if self._closed or self._writer is None:
            done(self.broken or JournalError(f"the journal {self._path!r} is closed"))
            return
        self._untold += 1
        self._all_told.clear()
        self._queue.put((entry, done))

    async def close(self) -> None:
        """All entries are done, and what they did in `done` was written as well; later entries are refused."""
        while self._untold:
            await self._all_told.wait()
        self._closed = True
        if self._thread is not None:
            self._queue.put(None)
            await self._ended.wait()
            self._thread.join()
        self._let_go()

    def _run(self, loop: asyncio.AbstractEventLoop, writer: Writer) -> None:
        """On the thread. A loop that was closed without this journal ends it too."""
        batch: list[_Written] = []
        with suppress(RuntimeError):  # of a loop that is closed
            try:
                while batch := self._batch():
                    verdicts = writer.write([entry for entry, _ in batch])
                    loop.call_soon_threadsafe(self._tell, batch, verdicts)
                    batch = []
                writer.write_late()
            except Exception as error:  # noqa: BLE001 - a defect of ours must not leave callers waiting for ever
                if not loop.is_closed():
                    loop.call_soon_threadsafe(self._break_down, error, batch)
            finally:
                loop.call_soon_threadsafe(self._ended.set)

    def _batch(self) -> list[_Written]:
        """What lies in the queue, up to a bound; waits for the first. Empty: the journal is closed."""
        batch: list[_Written] = []
        size_bytes = 0
        written = self._queue.get()
        while written is not None:
            batch.append(written)
            size_bytes += _size_bytes(written[0])
            if len(batch) == _MOST_ENTRIES or size_bytes >= _MOST_BYTES:
                break
            try:
                written = self._queue.get_nowait()
            except Empty:
                break
        if written is None and batch:
            self._queue.put(None)
        return batch

    def _tell(self, batch: Sequence[_Written], verdicts: Sequence[Verdict]) -> None:
        defects = [self._done(done, verdict) for (_, done), verdict in zip(batch, verdicts, strict=True)]
        self._untold -= len(batch)
        if not self._untold:
            self._all_told.set()
        for defect in filter(None, defects):
            self._break_down(defect, ())

    def _break_down(self, error: Exception, batch: Sequence[_Written]) -> None:
        """Nothing is written any more, and all who wait to be told are told so."""
        self._closed = True
        self.broken = self.broken or JournalError(
            f"the journal {self._path!r} broke down, and nothing more is written to it: {error!r}; this is a defect"
        )
        untold = [*batch]
        with suppress(Empty):
            while True:
                written = self._queue.get_nowait()
                if written is not None:
                    untold.append(written)
        self._queue.put(None)  # for a thread that waits
        self._tell(untold, [self.broken] * len(untold))

    @staticmethod
    def _done(done: Done, verdict: Verdict) -> Exception | None:
        """The defect of who was told."""
        try:
            done(verdict)
        except Exception as error:  # noqa: BLE001 - the others have to be told all the same
            return error
        return None

    def _let_go(self) -> None:
        """Close the file and leave it to others."""
        if self._writer is not None:
            self._writer.close()
        if self._connection is not None:
            self._connection.close()
        if self._lock is not None:
            self._lock.close()


def _locked(path: str) -> FileIO:
    """Held until it is closed, or the process ends. Raises JournalError when another process holds it; OSError.

    It is a file of its own: to close any descriptor of the database would free SQLite's own locks on it (POSIX).
    """
    lock = FileIO(f"{os.path.realpath(path)}.lock", "a")  # beside the file itself, by whatever link it is reached
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        raise JournalError(f"the journal {path!r} is in use by another process; expected one server for each") from None
    return lock


def _size_bytes(entry: Entry) -> int:
    match entry:
        case Finished(outcome=Sampled(payload)):
            return len(payload)
        case _:
            return 0
