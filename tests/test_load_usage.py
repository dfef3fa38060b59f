"""What processes take, as the kernel says."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from suites.load.usage import Watched, open_files, own_cpu_s, resident_in, session_of, waited_cpu_s

_BUSY = """
import os, sys
while os.times().user < 0.1: pass
held = bytearray(os.urandom(1 << 24))
print(flush=True)
sys.stdin.read()
"""

_OPENS = """
import socket, sys
print(flush=True)
sys.stdin.readline()
held = [socket.socket() for _ in range(10)]
print(flush=True)
sys.stdin.read()
"""


@contextmanager
def _started(script: str) -> "Iterator[subprocess.Popen[bytes]]":
    """Once it has printed a line."""
    command = [sys.executable, "-I", "-S", "-c", script]
    with subprocess.Popen(command, start_new_session=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process


def test_cpu_and_memory_of_a_process_and_of_its_session() -> None:
    """Until it has ended; then it takes nothing."""
    with _started(_BUSY) as process:
        assert process.stdin is not None
        watched = Watched.session(process.pid)
        use = watched.use()
        assert session_of(process.pid) == [process.pid]
        process.stdin.close()
    assert use.cpu_s >= 0.1
    assert use.resident_bytes > 1 << 24
    assert watched.use().cpu_s == 0


def test_sockets_are_what_was_opened_since_it_was_first_looked_at() -> None:
    """Files that are none are not counted."""
    with _started(_OPENS) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        watched = Watched.session(process.pid)
        assert watched.use().sockets == 0
        process.stdin.write(b"\n")
        process.stdin.flush()
        process.stdout.readline()
        assert watched.use().sockets == 10
        assert open_files(f"/proc/{process.pid}/fd") >= 13


def test_numbers_in_proc_are_read_behind_the_name_of_the_program() -> None:
    """Whatever it is called."""
    ticks = os.sysconf("SC_CLK_TCK")
    stat = f"7 (a ) b) S 1 2 3 4 5 6 7 8 9 10 100 200 {3 * ticks} {4 * ticks} 20 0"
    assert waited_cpu_s(stat) == 7
    assert resident_in("100 30 10 1 0 5 0") == 20 * os.sysconf("SC_PAGE_SIZE")
    assert own_cpu_s(os.getpid()) > 0
