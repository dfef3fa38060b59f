"""Where a subject is called over HTTP, and what its answers mean."""

import asyncio
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

import msgspec

from faults.evidence import Marker
from faults.form import Form
from faults.plan import PlannedOperation
from suites.body_template import filled
from suites.caller import call, connecting_socket
from suites.history import Arrival, Outcome
from suites.leaving import Leave
from suites.outcomes import outcome_of
from suites.pipe import in_words, pipe_on
from suites.reading import Reply
from suites.request import Request
from suites.sent import sent_body
from suites.subject import Address
from suites.subject_text import SubjectFile
from suites.workload import completion_request

# RFC 9110 s12.5.3: who does not say which codings it accepts accepts any.
_HEADERS = {"Content-Type": "application/json", "Accept-Encoding": "identity"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where and how operations are sent. path: empty for the usual one of what is asked for; query: with its question
    mark. body: a template, or empty for the usual one. tls: over TLS, so verified. way_in: where operations are sent
    instead, since it leads there.
    """

    address: Address
    path: str = ""
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
    tls: ssl.SSLContext | None = None
    way_in: Address | None = None
    not_executed: tuple[Marker, ...] = ()

    def through(self, way_in: Address) -> "Endpoint":
        """The same, whose operations go there: it leads to it."""
        return replace(self, way_in=way_in)

    async def call(
        self, planned: PlannedOperation, number: int, ceiling_ms: int, leave: Leave | None = None
    ) -> Outcome:
        """Send one operation and wait for what its caller sees of it. Never raises for what the subject does."""
        began_ns = time.monotonic_ns()
        form = planned.form
        body = filled(self.body, number) if self.body else _body(number, form, planned.body_bytes)
        request = Request(
            target=(self.path or form.api.path) + self.query,
            body=body,
            headers={**_HEADERS, **self.headers},
            segments=planned.segments,
            expect=planned.expect,
        )
        reply = await call(self.address, request, ceiling_ms=ceiling_ms, tls=self.tls, leave=leave, way_in=self.way_in)
        left = leave is not None and leave.left.is_set()
        outcome = outcome_of(reply, number, form, self.not_executed, began_ns, left=left)
        return replace(outcome, sent=sent_body(body))

    async def get(self, target: str, ceiling_ms: int) -> Reply:
        """A look at it: a GET without a body."""
        request = Request(method="GET", target=target, body=b"", headers=self.headers)
        return await call(self.address, request, ceiling_ms=ceiling_ms, tls=self.tls)

    async def is_ready(self, ready: str, within_ms: int, says: str = "") -> bool:
        """It accepts a connection ("tcp"), or answers a GET for that path with 200, and says that text."""
        if ready == "tcp":
            return await self.unconnectable(within_ms / 1000) is None
        reply = await self.get(ready, within_ms)
        return reply.arrival is Arrival.WHOLE and reply.status == 200 and says.encode() in reply.body

    async def unconnectable(self, within_s: float) -> str | None:
        """Why no connection can be had, TLS included; None where one can."""
        with connecting_socket(self.address[0]) as sock:
            try:
                async with asyncio.timeout(within_s):
                    await asyncio.get_running_loop().sock_connect(sock, self.address)
                    await pipe_on(sock, self.address[0], self.tls).open()
            except TimeoutError:
                return f"no connection within {within_s:g} s"
            except OSError as error:
                return in_words(error)
            return None


def _body(number: int, form: Form, body_bytes: int) -> bytes:
    return msgspec.json.encode(completion_request(number, form, body_bytes))


def endpoint_at(address: Address, file: SubjectFile) -> Endpoint:
    """The endpoint of a subject that was started at that address."""
    return Endpoint(address=address, headers=file.headers, body=file.body, not_executed=file.not_executed)


def endpoint_of(file: SubjectFile) -> Endpoint:
    """The endpoint that the file's `url` names: a path other than / is called as it is.

    Raises OSError for a CA file that is none.
    """
    parts = urlsplit(file.url)
    tls = ssl.create_default_context(cafile=file.ca_file) if parts.scheme == "https" else None
    path = parts.path if parts.path != "/" else ""
    return Endpoint(
        address=(parts.hostname or "", parts.port or (80 if tls is None else 443)),
        path=path,
        query=f"?{parts.query}" if parts.query else "",
        headers={"Host": parts.netloc, **file.headers},
        body=file.body,
        tls=tls,
        not_executed=file.not_executed,
    )
