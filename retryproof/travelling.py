"""A subject that is examined on another machine: what of it goes there, and what must be there already."""

import hashlib
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from retryproof.exits import CommandError, Exit
from retryproof.sessions import Session
from suites.callables import CallableSubject
from suites.chain import JOINED, ChainSubject
from suites.given import Given
from suites.installed import Installed
from suites.placeholders import mentions
from suites.processes import Supervisor
from suites.reach import Machine
from suites.registry import AnySubject, parts_of, subject_named
from suites.stacks.stack import StackSubject
from suites.standing import StandingSubject
from suites.subject import Subject
from suites.subject_file import file_and_variant
from suites.subject_text import SubjectFile

_BESIDE = re.compile(r"\{here\}/([\w.-]+(?:/[\w.-]+)*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Travelling:
    """A subject by its name, and the files that go with it.

    files: of a subject file, by their paths in its folder: itself first, then what its command names beside it;
    variant: which of it is meant. parts: of a chain, both, in place of files.
    """

    name: str
    files: tuple[tuple[str, bytes], ...] = ()
    variant: str | None = None
    parts: "tuple[Travelling, ...]" = ()

    def unpacked(self, folder: Path) -> str:
        """The name of the same subject, whose files are in that folder then; those of each part in one of its own."""
        if self.parts:
            return JOINED.join(part.unpacked(folder / f"{number}") for number, part in enumerate(self.parts))
        if not self.files:
            return self.name
        for relative, data in self.files:
            copy = folder / relative
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(data)
        return str(folder / self.files[0][0]) + ("" if self.variant is None else f":{self.variant}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What another machine must have in common with this one, or its runs are not ours: the version of the subject, the
    source of a subject in Python, and what can be seen and done there.
    """

    version: str
    source: str
    machine: Machine

    @staticmethod
    async def of(session: Session) -> "Expected":
        """What is here."""
        subject = session.subject
        if isinstance(subject, Installed | ChainSubject):
            await subject.read_version()
        return Expected(version=subject.spec.version, source=_source(subject), machine=session.machine)

    async def require(self, session: Session) -> None:
        """It is so here too. Raises CommandError (exit code 4), which says what differs."""
        found = await Expected.of(session)
        for what, theirs, ours in (
            ("the version of the subject", self.version, found.version),
            ("the digest of its module", self.source, found.source),
            ("this machine", _sees(self.machine), _sees(found.machine)),
        ):
            if theirs != ours:
                raise CommandError(
                    f"{what} is {ours}, but {theirs} where the command runs; expected the same on every machine",
                    Exit.COULD_NOT_RUN,
                )


def travelling(name: str, given: Given) -> Travelling:
    """That subject, ready to go. Raises CommandError (exit code 2) for one that cannot, and what subject_named does."""
    subject = subject_named(name, Supervisor(), given)
    if isinstance(subject, ChainSubject):
        return Travelling(name=name, parts=tuple(travelling(part, given) for part in parts_of(name) or ()))
    if lacks := _lacks(subject):
        raise CommandError(f"subject {name!r} cannot be examined elsewhere: {lacks}", Exit.USAGE)
    found = file_and_variant(name)
    if not isinstance(subject, Installed) or found is None:
        return Travelling(name=name)
    path, variant = found
    return Travelling(name=name, files=tuple(_packed(path, subject.file)), variant=variant)


def _lacks(subject: AnySubject) -> str:
    match subject:
        case StandingSubject():
            return "it runs already, and its routers are at addresses of this machine"
        case StackSubject():
            return "what Docker Compose brings up is of this machine"
        case Installed() if subject.file.ca_file is not None:
            return f"it names {str(subject.file.ca_file)!r}, which lies here"
        case Installed() if mentions("here", _cannot_go(subject.file)):
            return (
                "it names the folder {here}, which is of this machine; expected {here}/FILE as a word of its command, "
                "which goes along, and nothing else of that folder"
            )
        case _:
            return ""


def _cannot_go(file: SubjectFile) -> Iterator[str]:
    """Every text in which a placeholder means something, but for the words that name a file beside it."""
    yield from (word for word in file.command if not _is_beside(file, word))
    yield from (*file.version, *file.needs, file.install)
    for table in (file.values, file.tls, file.names, file.files):
        yield from table.values()


def _is_beside(file: SubjectFile, word: str) -> bool:
    found = _BESIDE.fullmatch(word)
    return found is not None and ".." not in Path(found[1]).parts and (file.here / found[1]).is_file()


def _packed(path: Path, file: SubjectFile) -> Iterator[tuple[str, bytes]]:
    yield path.name, path.read_bytes()
    for word in file.command:
        if (found := _BESIDE.fullmatch(word)) and (file.here / found[1]).is_file():
            yield found[1], (file.here / found[1]).read_bytes()


def _source(subject: Subject) -> str:
    """A digest of the module of a subject in Python; empty for any other."""
    if not isinstance(subject, CallableSubject):
        return ""
    path = getattr(sys.modules[subject.loaded.name.partition(":")[0]], "__file__", None)
    return "unknown" if path is None else hashlib.sha256(Path(path).read_bytes()).hexdigest()[:12]


def _sees(machine: Machine) -> str:
    """As it is told."""
    able = {"packet sockets": machine.packets, "packet filters": machine.filters, "Toxiproxy": machine.toxiproxy}
    return "one with " + (" and ".join(name for name, is_so in able.items() if is_so) or "nothing more")
