"""Subjects by what people call them: a built-in name, a TOML file, a variant of either, a stack, a URL, or
module:callable.
"""

from difflib import get_close_matches
from importlib.metadata import version as version_of
from pathlib import Path

from suites.callable_path import is_callable_path, load_callable
from suites.callables import CallableSubject
from suites.chain import JOINED, ChainSubject, chained
from suites.client_process import ClientSubject
from suites.foreign import ForeignSubject
from suites.given import NOTHING_GIVEN, Given, is_a_url, url_subject
from suites.installed import Installed
from suites.processes import Supervisor
from suites.reference import REFERENCE_VARIANTS, ReferenceSubject, reference_subject
from suites.speech import Channel
from suites.stacks.compose_file import is_stack, load_stack
from suites.stacks.network import joined
from suites.stacks.stack import StackSubject
from suites.standing import StandingSubject
from suites.subject import SubjectError, SubjectSpec
from suites.subject_file import built_in_file, built_in_names, file_and_variant, load_subject_file
from suites.subject_text import SubjectFile

REFERENCE = "reference"


class UnknownSubjectError(ValueError):
    """A name that is no built-in subject and no file."""


def built_in_subjects() -> tuple[str, ...]:
    """Every built-in subject and every variant of one, by the name that chooses it."""
    variants = [f"{REFERENCE}:{name}" for name in REFERENCE_VARIANTS]
    return (REFERENCE, *variants, *built_in_names())


Started = ForeignSubject | ClientSubject
AnySubject = ReferenceSubject | Started | StandingSubject | CallableSubject | StackSubject | ChainSubject


def subject_named(name: str, supervisor: Supervisor, given: Given = NOTHING_GIVEN) -> AnySubject:
    """The subject that a person means; `given`: what was said of it, where it is a URL.

    Raises UnknownSubjectError, UnknownPolicyError or SubjectFileError (all ValueErrors) with what was expected, and
    SubjectError for a module that cannot be imported.
    """
    if is_a_url(name):
        return StandingSubject(url_subject(name, given))
    if given != NOTHING_GIVEN:
        raise UnknownSubjectError(
            f"subject {name!r} beside {' '.join(given.words())}: those options are about a URL; expected them with a "
            "URL alone (a TOML file says the same in its keys)"
        )
    head, _, variant = name.partition(":")
    if head == REFERENCE:
        return reference_subject(variant or None, version_of("retryproof"))
    if is_stack(name):
        return StackSubject(load_stack(name, joined()), supervisor)
    if parts := parts_of(name):
        return _chain(*parts, supervisor)
    if found := file_and_variant(name):
        file = load_subject_file(*found)
        return StandingSubject(file) if file.url else _started(file, supervisor)
    if name in built_in_names():
        return _started(built_in_file(name), supervisor)
    if is_callable_path(name) and head not in built_in_names():
        return CallableSubject(loaded=load_callable(name))
    if Path(name).is_dir():
        raise UnknownSubjectError(f"subject {name!r} is a folder; expected the TOML file in it that describes one")
    near = ", ".join(get_close_matches(name, built_in_subjects(), n=3, cutoff=0.4))
    raise UnknownSubjectError(
        f"subject {name!r} is not known; expected a built-in name (`retryproof subjects` lists them), a TOML file, "
        "a compose file, a URL or module:callable" + (f"; nearest: {near}" if near else "")
    )


def _started(file: SubjectFile, supervisor: Supervisor) -> Started:
    return (ClientSubject if file.channel is Channel.LINES else ForeignSubject)(file, supervisor)


def parts_of(name: str) -> tuple[str, str] | None:
    """Both that the name of a chain names, each as it is named alone; None for any other name. The path of a file may
    have a JOINED in it too: one that is there is meant, and so is the first that can be one in front of another.
    """
    if _names_one(name):
        return None
    cuts = [at for at, letter in enumerate(name) if letter == JOINED]
    parts = [(name[:at], name[at + 1 :]) for at in cuts if name[:at] and name[at + 1 :]]
    known = [(outer, inner) for outer, inner in parts if _names_one(outer) or outer.endswith(".toml")]
    return next(iter(known or ([] if file_and_variant(name) else parts)), None)


def _names_one(name: str) -> bool:
    """A built-in subject, or a file that is there."""
    found = file_and_variant(name)
    return name in built_in_names() or (found is not None and found[0].is_file() and JOINED not in (found[1] or ""))


def _chain(outer: str, inner: str, supervisor: Supervisor) -> ChainSubject:
    """Raises what subject_named does."""
    name = f"{outer}{JOINED}{inner}"
    first, second = subject_named(outer, supervisor), subject_named(inner, supervisor)
    if not isinstance(first, Started) or not isinstance(second, ForeignSubject):
        raise UnknownSubjectError(
            f"subject {name!r}; expected two that are started here, A+B, and B one that is called over HTTP"
        )
    if not chained(first.spec, second.spec).apis:
        raise UnknownSubjectError(f"subject {name!r}; expected two that can be asked for the same")
    return ChainSubject(first, second)


async def described(name: str) -> SubjectSpec:
    """What is known of that subject on this machine. Raises SubjectError, with what to install, where it cannot
    run, and the ValueErrors of subject_named.
    """
    subject = subject_named(name, Supervisor())
    if isinstance(subject, Installed | ChainSubject | ReferenceSubject) and (missing := subject.missing()):
        raise SubjectError(missing)
    if isinstance(subject, Installed | ChainSubject):
        await subject.read_version()
    if isinstance(subject, StandingSubject):
        await subject.start()
    if isinstance(subject, StackSubject):
        await subject.require_engine()
    return subject.spec
