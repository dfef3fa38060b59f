"""How the suites of futures hold a subject, by what it is: one that they start, a stack, or one that runs already."""

from functools import partial

from suites.endpoint import Endpoint, endpoint_of
from suites.foreign import ForeignSubject
from suites.futures.control import Control
from suites.futures.host import OwnHost, Powers
from suites.futures.offer import Storage, Terms
from suites.futures.process_host import ProcessHost
from suites.futures.stack_host import StackHost, StruckStackHost
from suites.futures.theatre import OpenHost
from suites.stacks.stack import StackSubject
from suites.standing import StandingSubject
from suites.subject import Subject
from suites.subject_text import SubjectFile
from suites.tinker.vanishing import cannot_vanish
from suites.way import Upstreams

_NO_CLOCK = "its clock is not the suites': `options` under [futures] give it none ({clock_ms})"
_NO_STORE = "its store is not the suites': `options` under [futures] name none ({store})"
_NO_ROOM = "how much it keeps is not the suites': `options` under [futures] do not say ({max_bytes})"
_OWN_CLOCK = "its clock is that of its container"
_NOT_TOLD = "its compose file does not mention RETRYPROOF_OPTIONS, by which `options` under [futures] would come to it"
_NO_CONTAINER = "no container stands between it and its routers (`retryproof.role: router` in a stack)"
_NO_NUMBER = "it does not say how many are in flight (`retryproof.idle` of a stack)"
_HOSTS_NETWORK = "its containers are on the host's network: there is none of their own to be taken off"
_NO_LIMITS = "its engine changes no limit of a container that runs"
_STANDS = "it runs already: nobody here ends it and starts it again"


class StandingHost:
    """A server that runs already, and goes on."""

    def __init__(self, file: SubjectFile) -> None:
        self.terms: Terms = file.offer.terms
        self.endpoint: Endpoint = endpoint_of(file)
        self.control: Control | None = None

    async def begin(self, now_ms: int) -> bool:
        """It runs."""
        del now_ms
        return False

    async def end(self, *, killed: bool) -> str:
        """Raises ValueError: it is not ours to end."""
        raise ValueError(f"end(killed={killed!r}) of a server that runs already; expected one that was started here")

    async def close(self) -> None:
        """It is not ours to end."""


def host_of(subject: Subject) -> OpenHost:
    """How servers of that subject are had. Raises ValueError for one that cannot speak this protocol."""
    if isinstance(subject, ForeignSubject):
        return partial(_started, subject)
    if isinstance(subject, StackSubject):
        return partial(StackHost if powers_over(subject).no_container else StruckStackHost, subject)
    if isinstance(subject, StandingSubject):
        return partial(_standing, subject)
    raise ValueError(f"{subject.spec.facts.name} promises futures; expected a subject that is called over HTTP")


def powers_over(subject: Subject) -> Powers:
    """What the suites can do to it from outside."""
    vanishing = cannot_vanish() or ""
    if isinstance(subject, StackSubject):
        return _powers_over_stack(subject, vanishing)
    if not isinstance(subject, ForeignSubject):
        return Powers(
            no_clock=_STANDS,
            no_restart=_STANDS,
            no_sqlite=_STANDS,
            no_room=_STANDS,
            no_vanishing=vanishing,
            no_container=_NO_CONTAINER,
        )
    offer = subject.file.offer
    return Powers(
        no_clock="" if offer.clock else _NO_CLOCK,
        no_sqlite="" if offer.store else _NO_STORE,
        no_room="" if offer.room else _NO_ROOM,
        no_vanishing=vanishing,
        no_container=_NO_CONTAINER,
    )


def _powers_over_stack(subject: StackSubject, vanishing: str) -> Powers:
    """Its containers are the suites', its clock is not."""
    stack, offer = subject.stack, subject.file.offer
    told = "" if stack.takes_options else _NOT_TOLD
    container = "" if subject.spec.container else _NO_CONTAINER
    return Powers(
        no_clock=_OWN_CLOCK,
        no_sqlite=told or ("" if offer.store else _NO_STORE),
        no_room=told or ("" if offer.room else _NO_ROOM),
        no_vanishing=vanishing,
        no_container=container or ("" if stack.file.idle else _NO_NUMBER),
        no_network="" if subject.spec.network else _HOSTS_NETWORK,
        no_limits="" if subject.spec.limits else _NO_LIMITS,
    )


def _started(subject: ForeignSubject, storage: Storage, upstreams: Upstreams) -> OwnHost:
    return ProcessHost(subject.file, subject.supervisor, upstreams, storage)


def _standing(subject: StandingSubject, storage: Storage, upstreams: Upstreams) -> OwnHost:
    del storage, upstreams
    return StandingHost(subject.file)
