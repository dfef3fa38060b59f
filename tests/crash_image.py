"""What a killed process leaves of a SQLite file that it had open."""

import shutil
from pathlib import Path


def crash_image(source: Path, target: Path) -> None:
    """Copy the file as it lies on the disk, while nothing is being written to it."""
    for ending in ("", "-wal"):
        shutil.copy(f"{source}{ending}", f"{target}{ending}")
