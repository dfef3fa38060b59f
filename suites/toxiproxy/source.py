"""Where Toxiproxy's server comes from: a closed union, and which of it there is on this machine."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from suites.toxiproxy.errors import MissingToxiproxyError

VERSION = "2.12.0"
URL_VARIABLE = "TOXIPROXY_URL"
PROGRAM = "toxiproxy-server"
IMAGE = f"ghcr.io/shopify/toxiproxy:{VERSION}"
_DOCKER_S = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One that runs already; it is not ours to end."""

    url: str

    def __str__(self) -> str:
        return f"{self.url} ({URL_VARIABLE})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program to be started."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A Docker image that is here already."""

    name: str

    def __str__(self) -> str:
        return f"the Docker image {self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """There is none; `says` tells what was looked for and what to do."""

    says: str


Source = Standing | Program | Image
OTHERWISE = (
    f"put {PROGRAM} on PATH (github.com/Shopify/toxiproxy/releases), name one that runs in {URL_VARIABLE}, or "
    f"`docker pull {IMAGE}`"
)
WHAT_TO_DO = f"run `retryproof toxiproxy install` (it builds one with Go, once, in a minute), {OTHERWISE}"


def cache_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where what was built is kept (XDG Base Directory Specification: a relative path is ignored)."""
    xdg = environ.get("XDG_CACHE_HOME", "")
    base = Path(xdg) if Path(xdg).is_absolute() else Path(environ.get("HOME") or Path.home()) / ".cache"
    return base / "retryproof" / "toxiproxy"


def cached_program(environ: Mapping[str, str] = os.environ) -> Path:
    """Where the server is that we build, or will be."""
    return cache_folder(environ) / VERSION / PROGRAM


NO_CLIENT = "the package toxiproxy-python is not installed; pip install 'retryproof[toxiproxy]'"


def is_client_installed() -> bool:
    """Whether the package is there through which we speak to a server."""
    return find_spec("toxiproxy") is not None and find_spec("requests") is not None


def require_client() -> None:
    """Raises MissingToxiproxyError, with what to install, where `is_client_installed` says no."""
    if not is_client_installed():
        raise MissingToxiproxyError(NO_CLIENT)


def find_source(environ: Mapping[str, str] = os.environ) -> Source | Missing:
    """The first that there is, in this order: TOXIPROXY_URL, a program on PATH, the one in our cache, a Docker image.
    Builds, starts and asks nothing.
    """
    if not is_client_installed():
        return Missing(says=NO_CLIENT)
    if url := environ.get(URL_VARIABLE):
        return Standing(url=url)
    if path := shutil.which(PROGRAM, path=environ.get("PATH")):
        return Program(path=Path(path))
    cached = cached_program(environ)
    if os.access(cached, os.X_OK):
        return Program(path=cached)
    if _has_image(environ):
        return Image(name=IMAGE)
    return Missing(
        says=f"no Toxiproxy: {URL_VARIABLE} is not set, no {PROGRAM} on PATH, none at {cached}; {WHAT_TO_DO}"
    )


def _has_image(environ: Mapping[str, str]) -> bool:
    docker = shutil.which("docker", path=environ.get("PATH"))
    if docker is None:
        return False
    try:
        done = subprocess.run(
            [docker, "image", "inspect", IMAGE],
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_DOCKER_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
