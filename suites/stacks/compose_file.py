"""A compose file as a subject: what its labels and its variables say, before anything of it runs."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from suites.placeholders import mentions
from suites.stacks.labels import LabelError, Labelled, read_labels
from suites.stacks.network import StackNetwork
from suites.stacks.networked import services_called
from suites.subject_file import BUILT_IN, built_in_names
from suites.subject_reader import SubjectFileError, SubjectReader
from suites.subject_text import SubjectFile

NAMES = ("compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml")
OF_STACKS = "stack:"  # a stack that comes with the source, by its name
START_MS = 60_000  # several are brought up at once, and each is several containers
FOLDER = "/stack"  # where the folder of an instance is inside its containers
OPTIONS = "RETRYPROOF_OPTIONS"  # further words of its forwarder's command
_PORT = re.compile(r"\bRETRYPROOF_PORT(?:_[A-Z0-9_]+)?\b")
_DEFAULTS = {"connect_timeout_ms": 300, "read_timeout_ms": 300, "upstreams": 1, "isolation": "shared"}
_SAYS_HOW = {"RETRYPROOF_SCHEME": "{scheme}", "RETRYPROOF_MAX_CONNECTIONS": "{max_connections}"}


@dataclass(frozen=True, slots=True, kw_only=True)
class StackFile:
    """A stack that can be brought up. ports: the variables that each want a free port; hosts: those that want to know
    where a service is, with its name. takes_options: it mentions the further words of its forwarder's command.
    network: that of ours on which it is brought up; None: on the host's.
    """

    path: Path
    file: SubjectFile
    labelled: Labelled
    compose: Mapping[str, Any]
    ports: tuple[str, ...]
    hosts: Mapping[str, str]
    takes_options: bool = False
    network: StackNetwork | None = None


def is_stack(name: str) -> bool:
    """A person means a stack by it."""
    return name.startswith(OF_STACKS) or name.endswith((".yaml", ".yml"))


def stack_name(text: str) -> str:
    """The subject that is meant where nothing but a stack can be meant."""
    return text if is_stack(text) or Path(text).is_file() else f"{OF_STACKS}{text}"


def stack_path(name: str) -> Path:
    """The compose file that is meant: a path, or a name in compose/ here or beside our source. Raises
    SubjectFileError, naming those that exist.
    """
    wanted = name.removeprefix(OF_STACKS)
    if not name.startswith(OF_STACKS):
        return Path(wanted)
    folders = [Path("compose"), Path(__file__).parent.parent.parent / "compose"]
    for folder in folders:
        for path in (folder / wanted / each for each in NAMES):
            if path.is_file():
                return path
    known = sorted({path.parent.name for folder in folders for each in NAMES for path in folder.glob(f"*/{each}")})
    raise SubjectFileError(
        f"stack {wanted!r}; expected one of {', '.join(known) or 'those in the source (compose/), which is not here'}, "
        "or the path of a compose file"
    )


def load_stack(name: str, network: StackNetwork | None = None) -> StackFile:
    """The stack of that name, on that network or the host's. Raises SubjectFileError for all that is none."""
    path = stack_path(name)
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise SubjectFileError(f"{path}: {why}; expected a compose file") from None
    try:
        compose = _compose(text)
        labelled = read_labels(_labels_of(compose["services"]))
        hosts = services_called(compose["services"])
    except LabelError as error:
        raise SubjectFileError(f"{path}: {error}") from None
    return StackFile(
        path=path.resolve(),
        file=_subject(path, text, labelled, network),
        labelled=labelled,
        compose=compose,
        ports=tuple(sorted(set(_PORT.findall(text)) | {"RETRYPROOF_PORT"})),
        hosts=hosts,
        takes_options=OPTIONS in text,
        network=network,
    )


def _compose(text: str) -> Mapping[str, Any]:
    try:
        import yaml  # of the extra `docker`
    except ImportError:
        raise LabelError("PyYAML is missing, which reads it; install it: pip install 'retryproof[docker]'") from None
    try:
        data = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise LabelError(f"no YAML ({' '.join(str(error).split())}); expected a compose file") from None
    services = data.get("services") if isinstance(data, dict) else None
    if not isinstance(services, dict) or not all(isinstance(service, dict) for service in services.values()):
        raise LabelError(f"services is {services!r}; expected a table of services, as in any compose file")
    return {**data, "services": {str(name): service for name, service in services.items()}}


def _labels_of(services: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """By service; those of a profile are brought up by hand alone."""
    found = {}
    for name, service in services.items():
        labels = service.get("labels") or {}
        if isinstance(labels, list):
            labels = dict(str(label).partition("=")[::2] for label in labels)
        if not isinstance(labels, dict):
            raise LabelError(f"labels of {name!r} are {labels!r}; expected a table or a list")
        if not service.get("profiles"):
            found[name] = {str(key): _written(value) for key, value in labels.items()}
    return found


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _subject(path: Path, text: str, labelled: Labelled, network: StackNetwork | None) -> SubjectFile:
    """What is known of it, as a subject file would say it."""
    data: dict[str, Any] = dict(_DEFAULTS)
    variant: str | None = None
    if labelled.like:
        data, variant = _like(path, labelled.like)
    for key, value in labelled.keys.items():
        data[key] = {**data.get(key, {}), **value} if isinstance(value, dict) else value
    data.setdefault("start_ms", START_MS)
    data.setdefault("name", f"stack {path.resolve().parent.name}")
    if "idle" in labelled.keys:
        data.pop("quiet_ms", None)
    # The words of its command are never used: they say what its file mentions.
    data["command"] = ["docker", *(word for name, word in _SAYS_HOW.items() if name in text)]
    if "RETRYPROOF_NAME_SERVER" in text:
        data["command"].append("{name_server}")
    file = SubjectReader(str(path), path.resolve().parent, data, variant).subject()
    names = file.spec.names or mentions("name_server", file.command)
    spec = replace(file.spec, names=names, container=labelled.router is not None)
    if network is not None:
        spec = replace(spec, network=True, host=network.address)
    return replace(file, spec=spec)


def _like(path: Path, name: str) -> tuple[dict[str, Any], str | None]:
    stem, _, variant = name.partition(":")
    if name not in built_in_names():
        raise SubjectFileError(f"{path}: retryproof.like is {name!r}; expected one of {', '.join(built_in_names())}")
    data = tomllib.loads((BUILT_IN / f"{stem}.toml").read_text("utf-8"))
    for key in ("command", "version", "install", "needs", "name"):
        data.pop(key, None)
    return data, variant or None
