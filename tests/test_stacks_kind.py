"""Which kind of engine answers is told by what it says of itself."""

import pytest

from suites.stacks.kind import EngineKind

DOCKER = {"Version": "20.10.24", "Components": [{"Name": "Engine"}, {"Name": "containerd"}]}
PODMAN = {"Version": "4.3.1", "Components": [{"Name": "Podman Engine"}, {"Name": "Conmon"}]}
ROOTLESS = {"SecurityOptions": ["name=seccomp,profile=default", "name=rootless"]}
ROOT = {"SecurityOptions": ["name=seccomp,profile=default"]}
EVERYBODY = "         0          0 4294967295\n"
OF_ONE_USER = "         0       1001          1\n         1     100000      65536\n"


@pytest.mark.parametrize(
    ("kind", "says", "podman", "rootless"),
    [
        (EngineKind.of(DOCKER, ROOT), "Docker 20.10.24", False, False),
        (EngineKind.of(DOCKER, ROOTLESS), "Docker 20.10.24", False, True),
        (EngineKind.of(PODMAN, ROOT), "Podman 4.3.1", True, False),
        (EngineKind.of({"Version": "1"}, {"SecurityOptions": None}), "Docker 1", False, False),
    ],
)
def test_an_engine_says_what_it_is(kind: EngineKind, says: str, podman: bool, rootless: bool) -> None:
    """Docker where it does not say that it is Podman."""
    assert (str(kind), kind.podman, kind.rootless) == (says, podman, rootless)


@pytest.mark.parametrize(
    ("kind", "uid_map", "advised"),
    [
        (EngineKind.of(DOCKER, ROOTLESS), EVERYBODY, True),
        (EngineKind.of(DOCKER, ROOTLESS), OF_ONE_USER, False),
        (EngineKind.of(DOCKER, ROOT), EVERYBODY, False),
        (EngineKind.of(PODMAN, ROOTLESS), EVERYBODY, False),
    ],
    ids=["outside", "inside", "not rootless", "podman"],
)
def test_who_is_outside_a_rootless_docker_is_told_how_to_get_in(kind: EngineKind, uid_map: str, advised: bool) -> None:
    """Its loopback is not ours, whoever runs this command."""
    assert ("nsenter -U" in kind.advice(uid_map)) is advised
