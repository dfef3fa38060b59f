"""A forwarder that runs already, started by a test: its URL, and the router addresses that it was told."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from fake_router.authority import write_authority
from suites.placeholders import CA_FILE, fill_command, fill_file, meanings
from suites.processes import ReservedPort
from suites.speech import TINKER, Speech
from suites.subject_text import SubjectFile
from tests.command_process import DEADLINE_S

HOST = "127.0.0.1"
READY = """
import socket, sys, time
while True:
    try: socket.create_connection(("127.0.0.1", int(sys.argv[1]))).close()
    except OSError: time.sleep(0.01)
    else: break
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What a person knows of it. ca: of its routers, where it speaks TLS to them."""

    url: str
    listen: tuple[str, ...]
    ca: Path | None
    process: "subprocess.Popen[bytes]"
    speaks: str
    promises: str

    def options(self, *settings: str) -> list[str]:
        """Arguments of a command that are about it; each setting is a KEY=VALUE."""
        scheme, ca = ("", ()) if self.ca is None else ("https://", (f"listen_ca={self.ca}",))
        words = [word for address in self.listen for word in ("--listen", scheme + address)]
        words += ["--speaks", self.speaks, "--promises", self.promises]
        return words + [word for setting in ("quiet_ms=100", *ca, *settings) for word in ("--set", setting)]


@contextmanager
def standing(file: SubjectFile, folder: Path, *, tls: bool = False) -> Iterator[Standing]:
    """The subject of that file, started by us and not by a command, in a new folder; it is ended whatever happens."""
    folder.mkdir()
    if file.spec.tls:
        write_authority(folder / CA_FILE)  # nginx reads it in any case
    with ExitStack() as stack:
        ports = [stack.enter_context(_port()) for _ in range(file.spec.upstreams)]
        own = stack.enter_context(_port())
        upstreams = [(HOST, port) for port in ports]
        known = meanings(
            dir_=folder, listen=(HOST, own), here=file.here, upstreams=upstreams, values=file.values, tls=tls
        )
        _write(file.files, folder, known)
        process = stack.enter_context(_running([fill_command(word, known) for word in file.command], folder))
        subprocess.run([sys.executable, "-c", READY, str(own)], check=True, timeout=DEADLINE_S)
        listen = tuple(f"{HOST}:{port}" for port in ports)
        ca = folder / CA_FILE if tls else None
        yield Standing(
            url=f"http://{HOST}:{own}",
            listen=listen,
            ca=ca,
            process=process,
            speaks=TINKER if file.speech is Speech.TINKER else "openai-completions",
            promises=file.spec.facts.promises,
        )


@contextmanager
def _port() -> Iterator[int]:
    reserved = ReservedPort()
    try:
        yield reserved.number
    finally:
        reserved.close()


def _write(files: Mapping[str, str], folder: Path, known: Mapping[str, str]) -> None:
    for name, text in files.items():
        (folder / name).write_text(fill_file(text, known))


@contextmanager
def _running(command: Sequence[str], folder: Path) -> Iterator["subprocess.Popen[bytes]"]:
    with (
        (folder / "stderr").open("wb") as log,
        subprocess.Popen(
            command, cwd=folder, env=dict(os.environ), stdin=subprocess.DEVNULL, stdout=log, stderr=log
        ) as process,
    ):
        try:
            yield process
        finally:
            process.terminate()
