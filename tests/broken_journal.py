"""The server with a journal that breaks down, by a defect, when it is to write that something was delivered.
Started as `python -m tests.broken_journal` with the flags of `python -m forwarder`.
"""

import sys
from collections.abc import Sequence

from forwarder.__main__ import main
from forwarder.futures.entries import Delivered, Entry
from forwarder.futures.sqlite_writer import Verdict, Writer

SAYS = "no such entry"


def _break_down() -> None:
    write = Writer.write

    def written(self: Writer, entries: Sequence[Entry]) -> list[Verdict]:
        if any(isinstance(entry, Delivered) for entry in entries):
            raise KeyError(SAYS)
        return write(self, entries)

    Writer.write = written  # type: ignore[method-assign]


if __name__ == "__main__":
    _break_down()
    sys.exit(main())
