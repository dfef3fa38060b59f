"""All that a subject's keys say, as one object; and whether each placeholder in it means something."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from faults.evidence import Marker
from suites.futures.offer import Offer, Storage, Store
from suites.load.terms import READ_TIMEOUT, Terms
from suites.placeholders import PlaceholderError, fill_command, fill_file, meanings
from suites.speech import Channel, Speech
from suites.subject import SubjectSpec

_Fill = Callable[[str, Mapping[str, str]], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectFile:
    """All that a subject's keys say. Either `command` starts it, or `url` says where it runs already.

    `ready` is "tcp" or the path of an HTTP GET that answers 200, with `ready_says` in its body. body: a template, or
    empty for the usual one.
    not_executed: the answers that claim "not executed". values: placeholders of the file's own; tls, names: those of
    them that mean something else where its upstreams speak TLS, or are names. here: its folder. offer: of its futures.
    load: how it is started for a load. needs: what has to be there beside the program of its command.
    """

    spec: SubjectSpec
    speech: Speech = Speech.OPENAI
    channel: Channel = Channel.HTTP
    command: tuple[str, ...] = ()
    url: str = ""
    here: Path
    version: tuple[str, ...] = ()
    install: str = ""
    needs: tuple[str, ...] = ()
    ready: str = "tcp"
    ready_says: str = ""
    idle: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
    ca_file: Path | None = None
    not_executed: tuple[Marker, ...] = ()
    values: Mapping[str, str]
    tls: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str]
    offer: Offer = field(default_factory=Offer)
    load: Terms = field(default_factory=Terms)


def require_filled(file: SubjectFile) -> None:
    """Raises PlaceholderError, with the key, for a placeholder that means nothing."""
    listen = ("host", 1)
    known = meanings(
        dir_=Path("dir"),
        listen=listen,
        here=file.here,
        upstreams=[listen] * file.spec.upstreams,
        values=dict.fromkeys(file.values, ""),  # each is filled below, and blamed by its name
    )
    for key, fill, text in _texts(file):
        try:
            fill(text, {**known, READ_TIMEOUT: ""} if key.startswith("load.") else known)
        except PlaceholderError as error:
            raise PlaceholderError(f"{key} has {error}") from None


def _texts(file: SubjectFile) -> Iterator[tuple[str, _Fill, str]]:
    """Each with its key, and how it is filled."""
    for key, table in _tables(file):
        for name, text in table.items():
            yield f"{key}.{name}", fill_file, text
    for key, words in (
        ("command", file.command),
        ("version", file.version),
        ("needs", file.needs),
        ("install", (file.install,)),
        ("futures.options", file.offer.words(Storage(store=Store.SQLITE), 0)),
        ("load.options", file.load.options),
    ):
        for word in words:
            yield key, fill_command, word


def _tables(file: SubjectFile) -> tuple[tuple[str, Mapping[str, str]], ...]:
    """Those whose texts are filled as files are."""
    own = (("values", file.values), ("tls", file.tls), ("names", file.names), ("files", file.files))
    return (*own, ("load.replace", file.load.replace))
