"""A subject file whose program runs here, if it is installed: what is known of it, and of its version."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote

from suites.placeholders import fill_command, meanings
from suites.processes import Supervisor
from suites.programs import is_found, said_of_version
from suites.subject import SubjectError, SubjectSpec
from suites.subject_text import SubjectFile
from suites.way import Address, Upstreams

_NOWHERE: Address = ("127.0.0.1", 0)


class Installed:
    """What all subjects have in common that are started here as their file says."""

    def __init__(self, file: SubjectFile, supervisor: Supervisor) -> None:
        self.file = file
        self.supervisor = supervisor
        self._spec = file.spec
        self._version_lock = asyncio.Lock()
        self._found = False

    @property
    def spec(self) -> SubjectSpec:
        """What the file says; the version is known once an instance has been started."""
        return self._spec

    def missing(self) -> str | None:
        """Why it cannot run on this machine, and what to install; None when it can."""
        known = self._meanings_before()
        name = fill_command(self.file.command[0], known)
        if name in self.file.command and "/" in name and not name.startswith("/"):
            here = f"{{here}}/{name.removeprefix('./')}"
            mine = self.file.spec.facts.name
            return f"{mine}: command {name!r}: it is started in a folder of its own; expected {here!r}"
        absent = [path for word in self.file.needs if not any_at(path := fill_command(word, known))]
        if is_found(name) and not absent:
            return None
        if Path(name).is_file() and not is_found(name):
            return (
                f"{self.file.spec.facts.name}: {name!r} is not executable; expected a program: chmod +x {quote(name)}"
            )
        lacks = f"no {absent[0]!r} here" if is_found(name) else f"no {name!r} {'here' if '/' in name else 'on PATH'}"
        command = fill_command(self.file.install, known)
        install = f"install it: {command}" if command else "install it, or correct `command`"
        return f"{self.file.spec.facts.name}: {lacks}; {install}"

    def _meanings_before(self) -> dict[str, str]:
        """What its words mean before an instance is anywhere, and its routers are."""
        return meanings_of(self.file, Path(), 0, [_NOWHERE] * self.spec.upstreams)

    async def require(self, upstreams: Sequence[Address]) -> None:
        """It can be started in front of these. Raises SubjectError when something of it is missing."""
        if len(upstreams) != self.spec.upstreams:
            raise ValueError(f"{len(upstreams)} upstreams; expected {self.spec.upstreams} as its file says")
        if not self._found and (missing := self.missing()):
            raise SubjectError(missing)
        self._found = True  # once is enough: every instance would look through all of PATH
        await self.read_version()

    async def read_version(self) -> None:
        """Ask it for its version, once; afterwards the spec knows it."""
        async with self._version_lock:
            if self.file.version and not self._spec.version:
                known = self._meanings_before()
                argv = [fill_command(word, known) for word in self.file.version]
                self._spec = replace(self._spec, version=await said_of_version(argv))


def any_at(path: str) -> bool:
    """Something is there; the path may have * in it."""
    root = Path(path)
    return any(Path(root.anchor).glob(str(root.relative_to(root.anchor))))


def meanings_of(
    file: SubjectFile, folder: Path, port: int, upstreams: Sequence[Address], host: str = "127.0.0.1"
) -> dict[str, str]:
    """What the placeholders of that file stand for in an instance in that folder, on that port of that host."""
    return meanings(
        dir_=folder,
        listen=(host, port),
        here=file.here,
        upstreams=upstreams,
        values=file.values,
        tls_values=file.tls,
        names=file.names,
        tls=Upstreams.of(upstreams).way.tls,
        max_connections=Upstreams.of(upstreams).way.max_connections,
        name_server=Upstreams.of(upstreams).name_server,
    )
