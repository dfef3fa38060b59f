"""Subjects as a revision in git has them: `REV:PATH.toml`, as `git show` takes it, also with a variant behind it."""

import os
import posixpath
import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from retryproof.exits import CommandError, Exit
from retryproof.temporary import temporary_folder
from suites.given import is_a_url

_NAME = re.compile(r"(?P<revision>[^:]+):(?P<path>[^:]+\.toml)(?P<variant>:.+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class InRevision:
    """A subject file in a revision. path: from the top of the repository, or from here where it begins with ./ or ../;
    variant: with its colon, or empty.
    """

    revision: str
    path: str
    variant: str


def in_revision(name: str) -> InRevision | None:
    """What a person means by `REV:PATH.toml`; None for another name. A file that is called so is that file."""
    found = _NAME.fullmatch(name)
    if found is None or is_a_url(name) or Path(name).is_file() or found["revision"].endswith(".toml"):
        return None
    return InRevision(revision=found["revision"], path=found["path"], variant=found["variant"] or "")


@contextmanager
def checked_out(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The same subjects by names that need no git: each revision is checked out whole into a folder of its own, since
    a subject file may name what lies beside it. The folders are gone afterwards; index and working tree of the
    repository stay as they are.

    Raises CommandError: exit code 2 for what is no revision, or holds no such file; 4 where there is no git. One that
    is raised inside names the files as they were typed.
    """
    if not any(map(in_revision, names)):
        yield tuple(names)
        return
    with temporary_folder() as folder:
        paths = tuple(_path_in(folder, name) for name in names)
        try:
            yield paths
        except CommandError as error:
            raise CommandError(_as_typed(str(error), names, paths), error.code) from None


def _as_typed(says: str, names: Sequence[str], paths: Sequence[str]) -> str:
    for name, path in zip(names, paths, strict=True):
        meant = in_revision(name)
        if meant is not None:
            says = says.replace(path.removesuffix(meant.variant), name.removesuffix(meant.variant))
    return says


def _path_in(folder: Path, name: str) -> str:
    meant = in_revision(name)
    if meant is None:
        return name
    top = _git(name, "rev-parse", "--show-toplevel")
    commit = _git(name, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{meant.revision}^{{commit}}")
    below = _git(name, "rev-parse", "--show-prefix") if meant.path.startswith(("./", "../")) else ""
    path = posixpath.normpath(posixpath.join(below, meant.path))
    _git(name, "cat-file", "-e", f"{commit}:{path}")
    tree = folder / commit
    if not tree.exists():
        index = {"GIT_INDEX_FILE": str(folder / f"{commit}.index")}
        _git(name, "-C", top, "-c", "core.sparseCheckout=false", "read-tree", commit, more=index)
        _git(name, "-C", top, "checkout-index", "--all", "--quiet", f"--prefix={tree}/", more=index)
    return f"{tree / path}{meant.variant}"


def _git(name: str, *arguments: str, more: dict[str, str] | None = None) -> str:
    """What git says. Raises CommandError, with its words."""
    expected = "expected REV:PATH.toml as `git show` takes it (REV:./PATH.toml starts from this folder)"
    environment = {**os.environ, **(more or {}), "LC_ALL": "C"}
    try:
        done = subprocess.run(
            ("git", *arguments), env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
        )
    except FileNotFoundError:
        raise CommandError(f"subject {name!r} needs git, which is not installed", Exit.COULD_NOT_RUN) from None
    if done.returncode:
        said = " ".join(done.stderr.split()) or "no such revision"
        code = Exit.COULD_NOT_RUN if "checkout-index" in arguments or "read-tree" in arguments else Exit.USAGE
        raise CommandError(f"subject {name!r}: git says: {said}; {expected}", code)
    return done.stdout.strip()
