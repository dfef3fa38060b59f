"""A worker process on a machine of a Ray cluster, held by a process of Ray. It ends when that one does, since its stdin
does: signals, reaper and temporary files are its own affair, as they are everywhere.
"""

import os
import subprocess
import threading
from collections.abc import Iterator

from retryproof.edition import edition
from retryproof.running import running
from suites.processes import how_ended

_PIECE_BYTES = 1 << 18

# What is handed on is built-in types alone: whoever reads it may be of another edition.
Told = tuple[str, str | bytes]  # ("refused", why), ("piece", bytes), and last ("ended", how)


class Held:
    """At most one worker process. `live` may be called on one thread, `tell` and `stop` on another."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stopped = False
        self._process: subprocess.Popen[bytes] | None = None

    def live(self, wanted: str, request: bytes) -> Iterator[Told]:
        """Start it with that request, and hand on what it does until it has ended."""
        if edition() != wanted:
            yield "refused", f"retryproof is {edition()}, but {wanted} where the command runs; expected the same"
            return
        process = self._begun()
        if process is None:
            yield "ended", "was stopped before it began"
            return
        self._write(process, request)
        assert process.stdout is not None
        while piece := os.read(process.stdout.fileno(), _PIECE_BYTES):
            yield "piece", piece
        yield "ended", how_ended(process.wait())

    def tell(self, data: bytes) -> None:
        """It reads this next; it has read its request, or it is not told anything."""
        if self._process is not None:
            self._write(self._process, data)

    def stop(self) -> None:
        """The end of its stdin is its order to end."""
        with self._lock:
            self._stopped = True
            if self._process is not None and self._process.stdin is not None:
                self._process.stdin.close()

    def _begun(self) -> "subprocess.Popen[bytes] | None":
        with self._lock:
            if self._stopped:
                return None
            self._process = subprocess.Popen(
                running("retryproof.worker:main"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
            return self._process

    def _write(self, process: "subprocess.Popen[bytes]", data: bytes) -> None:
        assert process.stdin is not None
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[process.stdin.write(rest) :]
        except (OSError, ValueError):
            return  # it has ended, or was stopped
