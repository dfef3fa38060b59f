"""The placeholders of a subject file: {dir} {host} {port} {python} {here} {installed} {upstreams[N]} {scheme} {ca}, and
the file's own values.

In a command every {word} must be one of them. In a file braces are common, so only they are replaced there.
"""

import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

_WORD = re.compile(r"\{([A-Za-z_][\w.-]*(?:\[\d+\](?:\.\w+)?)?)\}")
FIXED = ("dir", "host", "port", "python", "here", "installed", "scheme", "ca", "name_server", "max_connections")
CA_FILE = "ca.pem"  # in {dir}; it is there also where the upstreams speak no TLS, for those who look at start


def installed_folder() -> Path:
    """Where subjects are installed that are in no package of this machine: as the environment says, or in the usual
    place for data of a user.
    """
    own = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(os.environ.get("RETRYPROOF_SUBJECTS") or Path(own) / "retryproof" / "subjects")


class PlaceholderError(ValueError):
    """A placeholder that means nothing; the message quotes it and lists those that do."""


def meanings(
    *,
    dir_: Path,
    listen: tuple[str, int],
    here: Path,
    upstreams: Sequence[tuple[str, int]],
    values: Mapping[str, str],
    names: Mapping[str, str] = MappingProxyType({}),
    tls_values: Mapping[str, str] = MappingProxyType({}),
    tls: bool = False,
    name_server: tuple[str, int] | None = None,
    max_connections: int = 0,
) -> dict[str, str]:
    """What each placeholder stands for in one instance of a subject; upstreams[N] is host:port. tls_values, names: what
    stands in place of some `values` where the upstreams speak TLS, and where there is a name server. All of these texts
    are filled themselves, once.
    """
    texts = {**values, **(tls_values if tls else {}), **({} if name_server is None else names)}
    found = dict(texts)
    found.update({"dir": str(dir_), "host": listen[0], "port": str(listen[1]), "here": str(here)})
    found["installed"] = str(installed_folder())
    found.update({"python": sys.executable, "scheme": "https" if tls else "http", "ca": str(dir_ / CA_FILE)})
    found["max_connections"] = str(max_connections)
    found["name_server"] = "" if name_server is None else f"{name_server[0]}:{name_server[1]}"
    for n, (host, port) in enumerate(upstreams):
        found[f"upstreams[{n}]"] = f"{host}:{port}"
        found[f"upstreams[{n}].host"] = host
        found[f"upstreams[{n}].port"] = str(port)
    return {**found, **{name: fill_file(text, found) for name, text in texts.items()}}


def fill_command(word: str, known: Mapping[str, str]) -> str:
    """One word of a command, filled. Raises PlaceholderError for a {word} that is not known."""

    def replace(match: re.Match[str]) -> str:
        if match[1] not in known:
            raise PlaceholderError(f"the placeholder {match[0]!r}; expected {_listed(known)}")
        return known[match[1]]

    return _WORD.sub(replace, word)


def fill_file(text: str, known: Mapping[str, str]) -> str:
    """The text of a file, filled; braces around anything else stay. Raises PlaceholderError for an upstream
    beyond those that the subject asks for.
    """

    def replace(match: re.Match[str]) -> str:
        if match[1].startswith("upstreams[") and match[1] not in known:
            raise PlaceholderError(f"the placeholder {match[0]!r}; expected {_listed(known)}")
        return known.get(match[1], match[0])

    return _WORD.sub(replace, text)


def mentions(placeholder: str, texts: Iterable[str]) -> bool:
    """One of these texts has the placeholder of that name."""
    return any(match[1] == placeholder for text in texts for match in _WORD.finditer(text))


def _listed(known: Mapping[str, str]) -> str:
    return "one of " + ", ".join(f"{{{name}}}" for name in known)
