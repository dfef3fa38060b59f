"""The key of an operation: the only thing of it that is the same when its submit is sent again."""

from dataclasses import dataclass

MOST_SEQ_ID = (1 << 63) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A sampling session and a number in it. Raises ValueError for a number that is none or too large."""

    sampling_session_id: str
    seq_id: int

    def __post_init__(self) -> None:
        if not 0 <= self.seq_id <= MOST_SEQ_ID:
            raise ValueError(f"seq_id is {self.seq_id!r}; expected 0 to {MOST_SEQ_ID}")
