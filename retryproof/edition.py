"""Which retryproof this is: two of one version number may still be two trees."""

import hashlib
from functools import cache
from importlib.metadata import version
from pathlib import Path

import retryproof

_OURS = ("faults", "fake_router", "forwarder", "suites", "signoff", "retryproof")


@cache
def edition() -> str:
    """The version, and a digest of all that it is made of here; two that are equal judge alike."""
    return f"{version('retryproof')} ({_digest(Path(retryproof.__file__).parents[1])})"


def _digest(top: Path) -> str:
    """Of sources and subject files, whichever folder they are in."""
    found = hashlib.sha256()
    for package in _OURS:
        for path in sorted((top / package).rglob("*")):
            if path.suffix in (".py", ".toml"):
                found.update(f"{path.relative_to(top)} ".encode() + hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()[:12]
