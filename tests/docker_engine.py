"""A Docker engine for tests: what there is of ours on it, and the command beside it."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from suites.stacks.errors import StackError
from tests.command_process import Ended, Place, wait_until

ROOT = Path(__file__).parent.parent
LONG_S = 600  # images may have to be built
BASE = os.environ.get("BASE_IMAGE", "retryproof-base")  # what compose/base.sh builds: it has iptables
_LABEL = "com.docker.compose.project"


class Docker:
    """The engine that answers here."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def of_ours(self) -> list[str]:
        """Containers, networks and volumes of projects of ours, by the name of the project."""
        labels = {"label": _LABEL}
        found = [one.labels for one in self._client.containers.list(all=True, ignore_removed=True, filters=labels)]
        found += [one.attrs["Labels"] for one in self._client.networks.list(filters=labels)]
        found += [one.attrs["Labels"] for one in self._client.volumes.list(filters=labels)]
        return sorted(name for labels in found if (name := labels[_LABEL]).startswith("retryproof-"))


def docker_here() -> Docker:
    """It; where none answers the test is skipped, or fails where nothing may be missing."""
    try:
        from suites.stacks.composing import Composer
        from suites.stacks.engine import Engine

        Engine.connect().close()
        Composer.find()
    except (ImportError, StackError) as error:
        if os.environ.get("RETRYPROOF_NO_SKIP"):
            pytest.fail(str(error))
        pytest.skip(str(error))
    import docker

    return Docker(docker.from_env())


def run(place: Place, *arguments: str) -> Ended:
    """The command, with time to build images."""
    with place.start(*arguments, "--out", "out") as process:
        out, err = process.communicate(timeout=LONG_S)
    return Ended(code=process.returncode, out=out, err=err)


def ended_by(number: signal.Signals, place: Place, so: Callable[[], bool], *arguments: str) -> Ended:
    """The same, ended by that signal as soon as that is so."""
    with place.start(*arguments, "--out", "out", start_new_session=True) as process:
        wait_until(process, so)
        process.send_signal(number)
        out, err = process.communicate(timeout=LONG_S)
    return Ended(code=process.returncode, out=out, err=err)


def compose(place: Place, name: str, text: str) -> str:
    """The path of a compose file with that text."""
    path = place.path / name / "compose.yaml"
    path.parent.mkdir()
    path.write_text(text)
    return str(path)


def image_of(stack: str) -> str:
    """What the forwarder of a stack in compose/ is made of."""
    lines = (ROOT / "compose" / stack / "compose.yaml").read_text().splitlines()
    return next(line.split()[1] for line in lines if line.strip().startswith("image:"))
