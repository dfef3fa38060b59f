"""A subject as a TOML file: what it is, how it is started, and what its answers mean."""

import tomllib
from functools import cache
from pathlib import Path

from suites.subject_reader import SubjectFileError, SubjectReader
from suites.subject_text import SubjectFile

BUILT_IN = Path(__file__).with_name("subjects")


def load_subject_file(path: Path, variant: str | None = None) -> SubjectFile:
    """The subject in that file, or one variant of it. Raises SubjectFileError for all that is no subject."""
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise SubjectFileError(f"{path}: {error.strerror}; expected a subject file in TOML") from None
    except ValueError as error:  # TOMLDecodeError, UnicodeDecodeError
        raise SubjectFileError(f"{path}: no TOML ({error}); expected a subject file") from None
    return SubjectReader(str(path), path.resolve().parent, data, variant).subject()


def file_and_variant(name: str) -> tuple[Path, str | None] | None:
    """The file that a person means by that name, and the variant: FILE, or FILE.toml:VARIANT; None for another name."""
    if name.endswith(".toml") or Path(name).is_file():
        return Path(name), None
    head, _, variant = name.rpartition(":")
    return (Path(head), variant) if head.endswith(".toml") else None


@cache  # whoever means one by its name asks for all of them, and no file that comes with the suites changes meanwhile
def built_in_names() -> tuple[str, ...]:
    """The subjects that come with the suites, each followed by its variants."""
    names = []
    for path in sorted(BUILT_IN.glob("*.toml")):
        variants = tomllib.loads(path.read_text("utf-8")).get("variants", {})
        names += [path.stem, *(f"{path.stem}:{variant}" for variant in variants)]
    return tuple(names)


def built_in_file(name: str) -> SubjectFile:
    """The built-in subject, or variant of one, of that name. Raises SubjectFileError, naming those that exist."""
    names = built_in_names()
    if name not in names:
        raise SubjectFileError(f"subject {name!r}; expected one of {', '.join(names)}, or the path of a TOML file")
    stem, _, variant = name.partition(":")
    return load_subject_file(BUILT_IN / f"{stem}.toml", variant or None)
