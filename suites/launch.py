"""The folder and the process of one instance of a subject file."""

import asyncio
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from fake_router.identity import IDENTITY
from suites.placeholders import CA_FILE, fill_command, fill_file
from suites.processes import Process, ProcessError, Supervisor
from suites.programs import environment
from suites.subject import SubjectError
from suites.subject_text import SubjectFile

_LOG = "stderr"  # what an instance writes, in its folder
_LAST_WORDS_BYTES = 2_000


class Launch:
    """Made with the folder; then `start`, and `stop` in any case."""

    def __init__(self, file: SubjectFile, supervisor: Supervisor) -> None:
        self._file = file
        self._supervisor = supervisor
        self.folder = Path(tempfile.mkdtemp(prefix="retryproof-"))
        self.folder.chmod(0o711)  # a subject started by root may give up its rights and must still find its files
        self.process: Process | None = None

    async def start(
        self,
        known: Mapping[str, str],
        more: Sequence[str] = (),
        *,
        stdin: Path | None = None,
        stdout: Path | None = None,
    ) -> Process:
        """Write its files, and start its command; more: further words of it. Raises SubjectError."""
        if self._file.spec.tls:
            (self.folder / CA_FILE).write_bytes(IDENTITY.ca_pem)
        for name, text in self._file.files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(fill_file(text, known), "utf-8")
        argv = [fill_command(word, known) for word in (*self._file.command, *more)]
        try:
            self.process = await self._supervisor.start(
                argv,
                cwd=self.folder,
                env=environment(),
                log=self.folder / _LOG,
                folder=self.folder,
                stdin=stdin,
                stdout=stdout,
            )
        except ProcessError as error:
            name = self._file.spec.facts.name
            raise SubjectError(f"{name} did not start: {error} (its command: {argv!r})") from error
        return self.process

    def last_words(self) -> str:
        """The end of what it wrote, for a message."""
        path = self.folder / _LOG
        text = path.read_bytes()[-_LAST_WORDS_BYTES:].decode(errors="replace").strip() if path.exists() else ""
        return f"The last that it wrote:\n{text}" if text else "It wrote nothing."

    def died(self) -> str | None:
        """How its process ended by itself; None while it lives."""
        return self.process.died() if self.process else None

    async def stop(self) -> None:
        """End its processes and remove its folder. Safe to call twice."""
        if self.process:
            await self.process.stop()
        # Beside the loop: a folder takes milliseconds on a disk, in which nobody's bytes would be seen.
        await asyncio.to_thread(shutil.rmtree, self.folder, ignore_errors=True)
