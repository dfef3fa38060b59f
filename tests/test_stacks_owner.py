"""A project's name says whose it is, so that what a killed process left is known for what it is."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from suites.stacks.owner import Owner, owner_of


def test_a_project_of_ours_is_known_by_its_name() -> None:
    """Two of one process have different names, and both lead to it; it is not gone."""
    first, second = Owner.me().next_project(), Owner.me().next_project()
    assert first != second
    assert owner_of(first) == owner_of(second) == Owner.me()
    assert not Owner.me().is_gone


def test_a_process_that_has_ended_is_gone() -> None:
    """Also where another has its number by now."""
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    mine = Owner.me()
    alive = replace(mine, pid=other.pid)
    assert alive.is_gone  # this process's start is not its own
    other.communicate()
    assert replace(mine, pid=other.pid).is_gone
    assert replace(mine, started=mine.started + 1).is_gone


def test_of_another_host_nobody_can_tell() -> None:
    """What it has brought up on a shared engine stays."""
    assert not replace(Owner.me(), host="00000000", pid=2**22).is_gone


@pytest.mark.parametrize("name", ["retryproof", "retryproof-1", "mine", "retryproof-xyz-{pid}-1-1", ""])
def test_another_project_is_nobody_s(name: str) -> None:
    """Whatever it is called, it is not removed."""
    assert owner_of(name.format(pid=os.getpid())) is None
