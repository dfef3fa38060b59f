"""What a result was made with: the configuration of a subject, as it can be published, and digests of it."""

import hashlib
import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from faults.plan_json import dump_plan
from signoff.items import Item
from signoff.published import Kind
from suites.chain import ChainSubject
from suites.client_process import ClientSubject
from suites.foreign import ForeignSubject
from suites.load.terms import KEY
from suites.processes import Supervisor
from suites.registry import AnySubject, parts_of, subject_named
from suites.subject_file import BUILT_IN, file_and_variant
from suites.subject_text import SubjectFile

_HERE = "{here}/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """kind: among what it is shown. values: what its file and its variant set, as they stand there. digest: of all
    that the file says, and of the files beside it that its command names.
    """

    kind: Kind
    values: Mapping[str, str] = field(default_factory=dict)
    digest: str


def configuration_of(name: str) -> Configuration:
    """That of a subject, which is not started. Raises what subject_named does."""
    subject = subject_named(name, Supervisor())
    if isinstance(subject, ChainSubject):
        parts = [configuration_of(part) for part in parts_of(name) or ()]
        values = {f"{at}.{key}": text for at, part in enumerate(parts, 1) for key, text in part.values.items()}
        return Configuration(kind=_kind(name, subject), values=values, digest=_digest(part.digest for part in parts))
    if not isinstance(subject, ForeignSubject | ClientSubject):
        return Configuration(kind=_kind(name, subject), digest=_digest([repr(subject.spec)]))
    path, variant = file_and_variant(name) or _built_in(name)
    return Configuration(
        kind=_kind(name, subject),
        values=dict(subject.file.values),
        digest=_digest([*_said(path, variant), *_beside(subject.file)]),
    )


def _built_in(name: str) -> tuple[Path, str | None]:
    stem, _, variant = name.partition(":")
    return BUILT_IN / f"{stem}.toml", variant or None


def _said(path: Path, variant: str | None) -> list[str]:
    """All that its file says of it: not how it is laid out, nothing of other variants, and nothing of loads."""
    data = tomllib.loads(path.read_text("utf-8"))
    variants = data.pop("variants", {})
    said = [{key: value for key, value in each.items() if key != KEY} for each in (data, variants.get(variant, {}))]
    return [json.dumps(each, sort_keys=True, default=str) for each in said]


def plans_digest(items: Iterable[Item]) -> str:
    """Of what is lived through: which cells, with which plans."""
    return _digest(f"{item.id} {item.times} {dump_plan(item.plan)}" for item in items)


def _kind(name: str, subject: AnySubject) -> Kind:
    if isinstance(subject, ChainSubject):
        return "chains"
    return "clients" if isinstance(subject, ClientSubject) else "forwarders"


def _beside(file: SubjectFile) -> list[str]:
    """What stands in the files of its folder that its command names: an adapter is part of what was examined."""
    paths = [file.here / word.removeprefix(_HERE) for word in file.command if word.startswith(_HERE)]
    return [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths if path.is_file()]


def _digest(texts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]
