"""Where Toxiproxy's server comes from: a closed union, and which of it there is on this machine."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from suites.printable import shortened
from suites.toxiproxy.errors import MissingToxiproxyError

VERSION = "2.12.0"
URL_VARIABLE = "TOXIPROXY_URL"
NO_BUILD = "RETRYPROOF_NO_BUILD"  # set: none is built but by `retryproof toxiproxy install`
PROGRAM = "toxiproxy-server"
IMAGE = f"ghcr.io/shopify/toxiproxy:{VERSION}"
_DOCKER_S = 10
_SHOWN_CHARACTERS = 200


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


OTHERWISE = (
    f"put {PROGRAM} on PATH (github.com/Shopify/toxiproxy/releases), name one that runs in {URL_VARIABLE}, or "
    f"`docker pull {IMAGE}`"
)
WHAT_TO_DO = (
    "run `retryproof toxiproxy install` (it builds one, once, in a minute, and fetches Go where there is none), "
    + OTHERWISE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """There is none: what was looked for in vain, and what to do."""

    looked: str
    to_do: str = WHAT_TO_DO

    @property
    def says(self) -> str:
        """Both, on one line."""
        return f"no Toxiproxy: {self.looked}; {self.to_do}"


Source = Standing | Program | Image


def cache_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where what was built is kept (XDG Base Directory Specification: a relative path is ignored)."""
    xdg = environ.get("XDG_CACHE_HOME", "")
    base = Path(xdg) if Path(xdg).is_absolute() else Path(environ.get("HOME") or Path.home()) / ".cache"
    return base / "retryproof" / "toxiproxy"


def cached_program(environ: Mapping[str, str] = os.environ) -> Path:
    """Where the server is that we build, or will be."""
    return cache_folder(environ) / VERSION / PROGRAM


NO_CLIENT = Missing(looked="the package toxiproxy-python is not installed", to_do="pip install 'retryproof[toxiproxy]'")


def is_client_installed() -> bool:
    """Whether the package is there through which we speak to a server."""
    return find_spec("toxiproxy") is not None and find_spec("requests") is not None


def require_client() -> None:
    """Raises MissingToxiproxyError, with what to install, where `is_client_installed` says no."""
    if not is_client_installed():
        raise MissingToxiproxyError(NO_CLIENT.says)


def find_source(environ: Mapping[str, str] = os.environ) -> Source | Missing:
    """The first that there is, in this order: TOXIPROXY_URL, a program on PATH, the one in our cache, a Docker image.
    Builds, starts and asks nothing.
    """
    if not is_client_installed():
        return NO_CLIENT
    if url := environ.get(URL_VARIABLE):
        return Standing(url=url)
    if path := shutil.which(PROGRAM, path=environ.get("PATH")):
        return Program(path=Path(path))
    cached = cached_program(environ)
    if os.access(cached, os.X_OK):
        return Program(path=cached)
    no_image = _why_no_image(environ)
    if no_image is None:
        return Image(name=IMAGE)
    return Missing(
        looked=f"{URL_VARIABLE} is not set, no {PROGRAM} on PATH, none at {cached}, and as to Docker: {no_image}"
    )


def _why_no_image(environ: Mapping[str, str]) -> str | None:
    """None: it is there."""
    docker = shutil.which("docker", path=environ.get("PATH"))
    if docker is None:
        return "it is not on PATH"
    try:
        done = subprocess.run(
            [docker, "image", "inspect", "--format", "{{.Id}}", IMAGE],
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_DOCKER_S,
            check=False,
        )
    except OSError as error:
        return f"{docker} cannot be executed ({error.strerror})"
    except subprocess.TimeoutExpired:
        return f"it did not answer within {_DOCKER_S} s"
    if done.returncode == 0:
        return None
    lines = done.stderr.decode(errors="replace").split("\n")
    said = next((line.strip() for line in reversed(lines) if line.strip()), f"exit code {done.returncode}")
    return f"it has no {IMAGE} ({shortened(said, _SHOWN_CHARACTERS)})"
