"""The subject of a load: a server that is started here as often as it takes, or one that runs already."""

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from ipaddress import ip_address
from typing import assert_never
from urllib.parse import urlsplit

from fake_router.service import Engine, Held, Instant
from suites.body_template import filled
from suites.foreign import ForeignSubject
from suites.given import NOTHING_GIVEN, Given
from suites.load.asked import Callers, Load
from suites.load.limits import Layout
from suites.load.order import Claim, Order
from suites.load.stairs import stairs_up_to
from suites.load.template import NUMBER
from suites.load.terms import READ_TIMEOUT
from suites.processes import Supervisor
from suites.registry import REFERENCE, subject_named
from suites.speech import Speech
from suites.standing import StandingSubject
from suites.subject import Address
from suites.subject_text import SubjectFile
from suites.workload import completion_request

SERVER = "reference-server"
PATIENT_MS = 2_048_000  # no load is so slow that a subject may take it for a failure
BROKEN_MS = 5_000  # beside faults that are silent: somebody has to wait for them
HELD_MS = 120_000  # and where operations are held meanwhile
START_MS = 60_000  # many start at once
LEAVE_EVERY = 8  # so many operations of an SDK, and one of them leaves its first poll at once
_HEADERS: Mapping[str, str] = {"Content-Type": "application/json", "Accept-Encoding": "identity"}


class NoTargetError(ValueError):
    """What cannot be under load; the message says what can."""


def target_named(name: str, given: Given = NOTHING_GIVEN) -> SubjectFile:
    """The server that a person means; the reference is one here. Raises NoTargetError, and what subject_named does."""
    head, colon, variant = name.partition(":")
    if head == REFERENCE:
        name = SERVER + (colon + variant if variant not in ("", "safe") else "")
    match subject_named(name, Supervisor(), given):
        case ForeignSubject(file=file) | StandingSubject(file=file):
            if file.spec.always_tls:
                raise NoTargetError(f"{name!r} speaks TLS to its routers; expected http: those of a load speak none")
            return file
        case _:
            raise NoTargetError(f"subject {name!r} is no server of its own; expected one that is called over HTTP")


def loopback_of(file: SubjectFile) -> str:
    """The subject by its name, where it is reached from its own machine alone; empty where others reach it too."""
    host = urlsplit(file.url).hostname or "127.0.0.1"  # where subjects are started
    return (file.url or file.spec.facts.name) if host == "localhost" or _is_loopback(host) else ""


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False  # a name


def callers_of(file: SubjectFile, asked: Callers | None) -> Callers:
    """Who calls it; None: such as its protocol has. Raises NoTargetError where they cannot."""
    usual = Callers.SDK if file.speech is Speech.TINKER else Callers.PLAIN
    if asked is Callers.SDK and usual is Callers.PLAIN:
        raise NoTargetError(f"{file.spec.facts.name} does not speak tinker; expected --callers plain")
    return asked or usual


def read_timeout_ms(load: Load) -> int:
    """How long the subject is to wait for a silent router: as long as nothing is broken, for ever."""
    if load.mix is None:
        return PATIENT_MS
    match load.service:
        case Engine(capacity=capacity, seconds=seconds):
            return BROKEN_MS + int(2_000 * seconds * math.ceil(load.in_flight / capacity))
        case Held():
            return HELD_MS
        case Instant():
            return BROKEN_MS
        case never:
            assert_never(never)


def loaded(file: SubjectFile, read_timeout_ms: int) -> SubjectFile:
    """The same, started as it wants to be for a load: it waits so long for a silent router, if it can be told to.

    Raises ValueError for terms that do not fit its files.
    """
    files, values = file.load.replaced(file.files, file.values)
    values[READ_TIMEOUT] = str(read_timeout_ms)
    spec = replace(file.spec, start_ms=max(file.spec.start_ms, START_MS))
    return replace(file, values=values, spec=spec, files=files)


def orders(
    load: Load, layout: Layout, file: SubjectFile, instances: list[Address], *, leave_every: int = LEAVE_EVERY
) -> list[Order]:
    """What each caller process is told. Raises OSError for a CA file that is gone."""
    return [
        Order(
            index=index,
            processes=layout.callers,
            slots=_share(load.in_flight, layout.callers, index),
            operations=_share(load.operations, layout.callers, index),
            callers=load.callers,
            instances=instances,
            sources=_sources(index, layout.sources, instances),
            connecting=layout.connecting,
            give_up_s=load.give_up_s,
            patience_s=load.patience_s,
            leave_every=leave_every,
            for_s=load.for_s,
            stairs=list(stairs_up_to(load.in_flight, load.stairs)),
            tls=file.url.startswith("https:"),
            ca=file.ca_file.read_text() if file.ca_file and file.url else "",
            host=urlsplit(file.url).netloc,
            target=_target(file),
            headers={**(_HEADERS if load.callers is Callers.PLAIN else {}), **file.headers},
            body=_body(file),
            not_executed=[Claim(status=one.status, body=one.body) for one in file.not_executed],
        )
        for index in range(layout.callers)
    ]


def _share(total: int, parts: int, index: int) -> int:
    """Of so many, dealt out one by one."""
    return total // parts + (index < total % parts)


def _sources(index: int, count: int, instances: list[Address]) -> list[str]:
    """Loopback addresses of its own; a caller of another machine has no choice."""
    if not all(host.startswith("127.") for host, _ in instances):
        return []
    return [f"127.{1 + n}.{index // 250}.{1 + index % 250}" for n in range(count)]


def _target(file: SubjectFile) -> str:
    parts = urlsplit(file.url)
    path = parts.path if parts.path not in ("", "/") else file.spec.apis[0].path
    return path + (f"?{parts.query}" if parts.query else "")


def _body(file: SubjectFile) -> str:
    if file.body:
        return filled(file.body, NUMBER).decode()
    return json.dumps(completion_request(NUMBER, file.spec.plain.form))
