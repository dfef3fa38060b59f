"""What a command that was killed has left in the folder for temporary files is removed by the next one."""

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from retryproof.temporary import temporary_folder

HOLDS = """
import sys
from pathlib import Path
from retryproof.temporary import temporary_folder
with temporary_folder() as folder:
    (folder / "left").mkdir()
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """That for temporary files, also of processes that are started."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_folder_is_gone_when_it_is_left(folder: Path) -> None:
    """With all that is in it."""
    with temporary_folder() as ours:
        (ours / "a").mkdir()
        assert list(folder.iterdir()) == [ours]
    assert list(folder.iterdir()) == []


def test_the_folder_of_who_was_killed_is_removed_and_that_of_who_lives_is_not(folder: Path) -> None:
    """Nor one of another name."""
    (folder / "retryproof-mine").mkdir()
    run = [sys.executable, "-c", HOLDS]
    with subprocess.Popen(run, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        held = Path(holder.stdout.readline().strip())
        with temporary_folder() as ours:
            assert set(folder.iterdir()) == {folder / "retryproof-mine", held, ours}
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        assert (held / "left").is_dir()
        with temporary_folder() as ours:
            assert set(folder.iterdir()) == {folder / "retryproof-mine", ours}
