"""Supervises the processes of foreign subjects, so that none of them outlives the process that asked for it.

A script for `python -I -S`, stdlib only; its argument is the grace in ms, from SIGTERM to SIGKILL. Orders come in as
JSON lines on stdin, events go out as JSON lines on stdout.

Each subject leads a session of its own under this process, which adopts what the subject orphans (nginx workers
outlive a SIGKILL of their master). On `stop` all of a session is ended: SIGTERM, then SIGKILL. When stdin ends, also
because the process at its other end was killed, every subject is ended in that way, and then this process.
"""

import ctypes
import json
import os
import select
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any, NoReturn

KILL_S = 2.0  # how long SIGKILL may take before a process counts as beyond reach
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_libc = ctypes.CDLL(None, use_errno=True)


class Subject:
    """One subject: its leader's pid is also the id of its process group and of its session."""

    __slots__ = ("deadline_s", "ended", "folder", "id", "killed", "pid")

    def __init__(self, id_: int, pid: int, folder: str | None) -> None:
        self.id = id_
        self.pid = pid
        self.folder = folder  # removed after it when its driver no longer can
        self.ended = False
        self.killed = False
        self.deadline_s: float | None = None  # set: it is being stopped

    def signal(self, number: int) -> None:
        """Send a signal to the whole session."""
        _signal_group(self.pid, number)
        for pid in self.outside_group():
            _signal(pid, number)

    def outside_group(self) -> list[int]:
        """The members of the session that have moved to a process group of their own."""
        return [pid for pid in _pids() if _group_in(self.pid, pid) not in (None, self.pid)]

    def is_gone(self) -> bool:
        """Nothing of the session is left. The number of a leader cannot be given out again while its group lives."""
        return self.ended and not _signal_group(self.pid, 0) and not self.outside_group()


class Reaper:
    """All subjects of one driver."""

    def __init__(self, grace_s: float) -> None:
        self.grace_s = grace_s
        self.subjects: dict[int, Subject] = {}
        self.closing = False
        self.listener_is_gone = False
        self.unread = b""

    def run(self) -> None:
        """Serve until stdin has ended and no child is left."""
        wake_read, wake_write = os.pipe()
        os.set_blocking(wake_read, False)
        os.set_blocking(wake_write, False)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self.on_signal)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        poll = select.poll()
        poll.register(0, select.POLLIN)
        poll.register(wake_read, select.POLLIN)
        while not (self.closing and not self.subjects):
            for ready, _events in poll.poll(self.timeout_ms()):
                if ready == 0:
                    self.read_orders(poll)
                else:
                    os.read(wake_read, 4096)
            if self.closing:
                self.stop_all()
            self.reap()
            self.settle()
        self.kill_strays()

    def on_signal(self, number: int, _frame: object) -> None:
        """SIGTERM and SIGHUP end it as the end of stdin does; SIGCHLD only wakes the loop."""
        if number != signal.SIGCHLD:
            self.closing = True

    def timeout_ms(self) -> float | None:
        deadlines = [s.deadline_s for s in self.subjects.values() if s.deadline_s is not None]
        return max(0.0, min(deadlines) - time.monotonic()) * 1000 + 1 if deadlines else None

    def read_orders(self, poll: select.poll) -> None:
        data = os.read(0, 1 << 16)
        if not data:
            poll.unregister(0)
            self.closing = True
            return
        *lines, self.unread = (self.unread + data).split(b"\n")
        for line in lines:
            self.obey(json.loads(line))

    def obey(self, order: dict[str, Any]) -> None:
        if order["order"] == "start":
            self.start(order)
        elif order["id"] in self.subjects:
            self.stop(self.subjects[order["id"]])

    def start(self, order: dict[str, Any]) -> None:
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            _become(order, write)
        os.close(write)
        with open(read, "rb") as pipe:
            error = pipe.read().decode()  # ends without a byte when exec has closed the other end
        if error:
            os.waitpid(pid, 0)
            self.tell(event="failed", id=order["id"], error=error)
            return
        self.subjects[order["id"]] = Subject(order["id"], pid, order["folder"])
        self.tell(event="started", id=order["id"], pid=pid)

    def stop(self, subject: Subject) -> None:
        if subject.deadline_s is None:
            subject.deadline_s = time.monotonic() + self.grace_s
            subject.signal(signal.SIGTERM)

    def stop_all(self) -> None:
        for subject in self.subjects.values():
            self.stop(subject)

    def reap(self) -> None:
        leaders = {subject.pid: subject for subject in self.subjects.values() if not subject.ended}
        for pid, status in _dead_children():
            if pid in leaders:
                leaders[pid].ended = True
                self.tell(event="exited", id=leaders[pid].id, code=os.waitstatus_to_exitcode(status))

    def settle(self) -> None:
        """Forget the subjects of which nothing is left; kill those that did not end in time."""
        for subject in list(self.subjects.values()):
            if subject.deadline_s is None:
                continue
            late = time.monotonic() >= subject.deadline_s
            if subject.is_gone() or (late and subject.killed):
                del self.subjects[subject.id]
                if self.closing and subject.folder:
                    shutil.rmtree(subject.folder, ignore_errors=True)
                self.tell(event="stopped", id=subject.id)
            elif late or subject.ended:  # without its leader nothing will end the rest in good order
                if not subject.killed:
                    subject.deadline_s = time.monotonic() + KILL_S
                subject.killed = True
                subject.signal(signal.SIGKILL)

    def kill_strays(self) -> None:
        """End what a subject has moved into a session of its own and then orphaned."""
        deadline_s = time.monotonic() + KILL_S
        while time.monotonic() < deadline_s:
            strays = [pid for pid, parent in _processes() if parent == os.getpid()]
            if not strays:
                return
            for pid in strays:
                _signal(pid, signal.SIGKILL)
                os.waitpid(pid, 0)

    def tell(self, **event: object) -> None:
        if self.listener_is_gone:
            return
        try:
            os.write(1, json.dumps(event).encode() + b"\n")
        except BrokenPipeError:
            self.listener_is_gone = True
            self.closing = True


def _become(order: dict[str, Any], error_pipe: int) -> NoReturn:
    """Turn this forked child into the subject; an error goes into the pipe, which exec closes."""
    try:
        reaper = os.getppid()
        os.setsid()
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_DFL)  # an ignored signal stays ignored over exec, a blocked one blocked
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        # This process has one thread, so "the thread that forked has ended" means that the reaper was killed.
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != reaper:
            os._exit(1)
        os.chdir(order["cwd"])
        log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        said = log if order.get("stdout") is None else os.open(order["stdout"], os.O_WRONLY)
        told = os.open(order.get("stdin") or os.devnull, os.O_RDONLY)
        for descriptor, source in ((0, told), (1, said), (2, log)):
            os.dup2(source, descriptor)
        os.execvpe(order["argv"][0], order["argv"], order["env"])
    except OSError as error:
        os.write(error_pipe, f"{error.strerror}: {error.filename or order['argv'][0]!r}".encode())
    finally:
        os._exit(127)


def _dead_children() -> Iterator[tuple[int, int]]:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        yield pid, status


def _pids() -> Iterator[int]:
    """Every process of this machine."""
    return (int(name) for name in os.listdir("/proc") if name.isdecimal())


def _group_in(session: int, pid: int) -> int | None:
    """The process group of that process, where it is a member of that session. Asked of every process each time a
    subject ends: as a file in /proc it would take most of the time.
    """
    try:
        return os.getpgid(pid) if os.getsid(pid) == session else None
    except OSError:
        return None  # it has ended since


def _processes() -> Iterator[tuple[int, int]]:
    """(pid, parent) of every process of this machine."""
    for pid in _pids():
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue  # it has ended since
        yield pid, int(fields[1])


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def _signal_group(group: int, number: int) -> bool:
    """Whether the group has a member."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


if __name__ == "__main__":
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    Reaper(grace_s=int(sys.argv[1]) / 1000).run()
