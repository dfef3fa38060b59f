"""What the containers of an instance wrote: kept as files, and the last of it for a message."""

from collections.abc import Mapping
from pathlib import Path

_LAST_LINES = 10


def keep(logs: Mapping[str, bytes], folder: Path) -> None:
    """A file a service."""
    folder.mkdir(parents=True, exist_ok=True)
    for service, text in logs.items():
        (folder / f"{service}.log").write_bytes(text)


def end_of(text: bytes) -> str:
    """Its last lines."""
    return b"\n".join(text.strip().splitlines()[-_LAST_LINES:]).decode(errors="replace")
