"""How an operation ended for its caller, in one byte of a record, and the records of one caller process."""

from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Records = NDArray[Any]  # of RECORD

RECORD = np.dtype([("number", "<u4"), ("ended", "u1"), ("why", "<u2"), ("began_ns", "<u8"), ("ended_ns", "<u8")])
MAX_WHYS = 255  # of one caller process: those of 256 fit into a record


class Ended(IntEnum):
    """What its caller may believe of it."""

    OK = 0  # it holds the result of an execution of its own operation
    NOT_EXECUTED = 1  # it failed, and the subject claims that nothing ran
    UNKNOWN = 2  # it failed, and nothing is claimed
    GARBAGE = 3  # it was told a success, with what is no result of its operation
    NO_ANSWER = 4  # nothing had come when its time was over
    GIVEN_UP = 5  # a process of the subject had ended, and we waited no longer: that says nothing of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """How one operation ended. why: in few words, the same for the same cause; empty for OK."""

    ended: Ended
    why: str = ""


OK = Told(ended=Ended.OK)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """All that callers were told: a record an operation, and the words that its `why` counts in, from 1."""

    records: Records
    whys: tuple[str, ...] = ()


def tally_in(path: Path, whys: tuple[str, ...]) -> Tally:
    """The records in that file. Raises ValueError for one that ends inside a record."""
    data = path.read_bytes()
    if len(data) % RECORD.itemsize:
        raise ValueError(f"{str(path)!r} has {len(data)} bytes; expected a multiple of {RECORD.itemsize}")
    return Tally(records=np.frombuffer(data, RECORD), whys=whys)


def joined(tallies: list[Tally]) -> Tally:
    """All of them as one."""
    words = sorted({why for tally in tallies for why in tally.whys})
    number_of = {why: number for number, why in enumerate(words, 1)}
    parts = []
    for tally in tallies:
        renumbered = np.array([0, *(number_of[why] for why in tally.whys)], "u2")
        records = tally.records.copy()
        records["why"] = renumbered[records["why"]]
        parts.append(records)
    return Tally(records=np.concatenate(parts) if parts else np.empty(0, RECORD), whys=tuple(words))
