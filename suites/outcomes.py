"""What a caller over HTTP may believe of the answer that it got."""

import time
from collections.abc import Sequence

from faults.evidence import Marker
from faults.form import Form
from suites.coding import coding_in, content_so_far
from suites.events import streamed_in
from suites.history import Arrival, Kind, Outcome
from suites.reading import Reply


def outcome_of(
    reply: Reply, number: int, form: Form, not_executed: Sequence[Marker], began_ns: int, *, left: bool = False
) -> Outcome:
    """The outcome of the operation of that number, which was asked for in that form; it has ended just now, or its
    caller has left.
    """
    says, coding = reply.says, coding_in(reply.headers)
    content = content_so_far(reply.body, coding)
    if form.stream and _is_success(reply):
        says = "; ".join(filter(None, (streamed_in(content, form.api).says, says)))
    return Outcome(
        operation=number,
        kind=_kind(reply, content, form, not_executed),
        arrival=reply.arrival,
        form=form,
        status=reply.status,
        body=reply.body,
        coding=coding,
        behind=reply.behind,
        says=says,
        left=left,
        invoked_at_ns=began_ns,
        ended_at_ns=time.monotonic_ns(),
    )


def _kind(reply: Reply, content: bytes, form: Form, not_executed: Sequence[Marker]) -> Kind:
    if reply.arrival is not Arrival.WHOLE:
        return Kind.UNKNOWN
    if _is_success(reply):
        whole = not form.stream or (_is_stream(reply) and streamed_in(content, form.api).complete)
        return Kind.OK if whole else Kind.UNKNOWN
    claims = any(reply.status == marker.status and marker.body.encode() in content for marker in not_executed)
    return Kind.FAILED if claims else Kind.UNKNOWN


def _is_success(reply: Reply) -> bool:
    return reply.status is not None and 200 <= reply.status < 300


def _is_stream(reply: Reply) -> bool:
    types = [value for name, value in reply.headers if name == "content-type"]
    return len(types) == 1 and types[0].partition(";")[0].strip().lower() == "text/event-stream"
