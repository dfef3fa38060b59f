"""The ledger: append-only, numbered, and as JSON lines. Line 1 holds the schema, every further line one entry."""

from collections.abc import Callable, Iterable, Iterator
from time import monotonic_ns
from typing import Any, TypeVar, cast

import msgspec

from fake_router.entries import AnyEntry, Entry

SCHEMA = 1

E = TypeVar("E", bound=Entry)


class LedgerError(ValueError):
    """Text that is no ledger of this schema; the message names the line."""


class Ledger:
    """What really happened, in order. Entries are numbered from 1 and never change."""

    __slots__ = ("_entries", "_followers", "next_seq")

    def __init__(self) -> None:
        self.next_seq = 1  # of the next entry
        self._entries: list[AnyEntry] = []
        self._followers: list[Callable[[], None]] = []

    def record(self, kind: type[E], /, **facts: Any) -> int:
        """Append one entry and return its seq. Raises TypeError for facts that the kind does not have."""
        return self.append(cast(AnyEntry, kind(seq=self.next_seq, at_ns=monotonic_ns(), **facts)))

    def append(self, entry: AnyEntry) -> int:
        """Append an entry whose seq is `next_seq`, and return that. Raises ValueError for any other seq.

        It is for what every exchange records: facts that are handed on by name cost several times their entry.
        """
        seq = entry.seq
        if seq != self.next_seq:
            raise ValueError(f"an entry with seq {seq!r}; expected {self.next_seq!r}, the next of its ledger")
        self.next_seq = seq + 1
        self._entries.append(entry)
        if self._followers:
            self.tell_followers()
        return seq

    def since(self, seq: int = 0, at_most: int | None = None) -> tuple[AnyEntry, ...]:
        """The entries with numbers above `seq`; `at_most`: so many of them."""
        first = max(seq, 0)
        return tuple(self._entries[first : None if at_most is None else first + at_most])

    def on_record(self, follower: Callable[[], None]) -> Callable[[], None]:
        """Call `follower` after every entry, until the function returned is called. It must neither wait nor raise."""
        self._followers.append(follower)
        return lambda: self._followers.remove(follower)

    def tell_followers(self) -> None:
        """Let them look: there is an entry, or there will be no more."""
        for follower in tuple(self._followers):
            follower()

    def __iter__(self) -> Iterator[AnyEntry]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    schema: int


_encoder = msgspec.json.Encoder()
_headers = msgspec.json.Decoder(_Header)
_entries = msgspec.json.Decoder(AnyEntry)


def dump(entries: Iterable[AnyEntry]) -> bytes:
    """The entries as JSON lines, the first line naming the schema."""
    return _encoder.encode_lines([_Header(SCHEMA), *entries])


def dump_more(entries: Iterable[AnyEntry]) -> bytes:
    """Entries as JSON lines, to follow those that were dumped before."""
    return _encoder.encode_lines(entries)


def load(data: bytes | str) -> tuple[AnyEntry, ...]:
    """The entries in those JSON lines. Raises LedgerError for all that is no ledger of this schema."""
    lines = (data.encode() if isinstance(data, str) else data).split(b"\n")
    try:
        header = _headers.decode(lines[0])
    except msgspec.MsgspecError as error:
        raise LedgerError(f'line 1 is {_quoted(lines[0])}; expected {{"schema":{SCHEMA}}} ({error})') from None
    if header.schema != SCHEMA:
        raise LedgerError(f"line 1 says schema {header.schema!r}; this version reads {SCHEMA}")
    entries: list[AnyEntry] = []
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        try:
            entry = _entries.decode(line)
        except msgspec.MsgspecError as error:
            raise LedgerError(f"line {number} is {_quoted(line)}; expected one entry ({error})") from None
        if entries and entry.seq <= entries[-1].seq:
            raise LedgerError(f"line {number} has seq {entry.seq!r} after {entries[-1].seq!r}; expected a larger one")
        entries.append(entry)
    return tuple(entries)


def _quoted(line: bytes) -> str:
    text = line[:80].decode("utf-8", "replace")
    return repr(text) + ("..." if len(line) > 80 else "")
