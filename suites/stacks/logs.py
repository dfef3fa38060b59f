"""What the containers of an instance wrote: kept as files, and the last of it for a message."""

import re
from collections.abc import Mapping
from pathlib import Path

_LAST_LINES = 10
_TAKEN = re.compile(rb"address already in use|EADDRINUSE", re.IGNORECASE)
_TAKES_A_PORT = (
    "A port is taken. Several instances stand side by side: each service has to listen at a port of its own, the "
    "forwarder at RETRYPROOF_PORT, any other at a RETRYPROOF_PORT_NAME; none may be a number in the compose file"
)


def keep(logs: Mapping[str, bytes], folder: Path) -> None:
    """A file a service."""
    folder.mkdir(parents=True, exist_ok=True)
    for service, text in logs.items():
        (folder / f"{service}.log").write_bytes(text)


def last_words(logs: Mapping[str, bytes], folder: Path | None) -> str:
    """The last of it, by service, and what to do where that is known; empty where nothing was written. folder: where
    all of it is kept.
    """
    said = [f"\nThe last that {service!r} wrote:\n{_end_of(text)}" for service, text in logs.items() if text.strip()]
    if any(_TAKEN.search(text) for text in logs.values()):
        said.append(f"\n{_TAKES_A_PORT}")
    if folder is not None and said:
        said.append(f"\nAll that its containers wrote is in {str(folder)!r}")
    return "".join(said)


def _end_of(text: bytes) -> str:
    return b"\n".join(text.strip().splitlines()[-_LAST_LINES:]).decode(errors="replace")
