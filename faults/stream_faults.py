"""The faults of a streamed reply: where it stops, what its events hold, and how they are spaced."""

from faults.answer import Answer, Cut, Spaced
from faults.coverage import CORE, ONCE, Coverage, left_at_once
from faults.fault import RAN, Fault
from faults.vocabulary import Content, Ending, Point, Side

_RFC_CUT = "RFC 9112 s8: the message is incomplete"
_RFC_2XX = "RFC 9110 s15.3: a 2xx says that the request was accepted"
_SSE = "WHATWG HTML s9.2: a stream has no end of its own; `data: [DONE]` is the convention of the API"
_ENDS = {Ending.FIN: "FIN", Ending.RESET: "RST"}

_CUTS: tuple[tuple[str, Cut, str, tuple[Ending, ...]], ...] = (
    ("in-event", Point.IN_EVENT, "a stream that stops inside an event", (Ending.FIN,)),
    ("event", Point.EVENT, "a stream that stops between two events", tuple(_ENDS)),
    ("done", Point.DONE, "all events of a stream but [DONE]", (Ending.FIN,)),
)

_CONTENTS: tuple[tuple[str, Content, str, Coverage], ...] = (
    ("no-done", Content.NO_DONE, "all events of a stream but [DONE], and a clean end", CORE),
    ("no-events", Content.NO_EVENTS, "a stream without an event, and a clean end", ONCE),
    ("error-event", Content.ERROR_EVENT, "some events, then an error event and a clean end", ONCE),
    ("error-event-done", Content.ERROR_EVENT_DONE, "some events, then an error event and [DONE]", CORE),
    ("unstreamed", Content.UNSTREAMED, "the whole answer as JSON in place of a stream", ONCE),
)


def stream_faults() -> list[Fault]:
    """Cuts, in wire order; wrong events; then what takes its time."""
    return [
        *(
            _fault(
                f"stream-{name}-{ending}",
                f"{says}, then {_ENDS[ending]}",
                Answer(side=Side.AFTER, cut=cut, ending=ending),
                authority=_RFC_CUT,
                coverage=CORE if (name, ending) == ("event", Ending.FIN) else ONCE,
            )
            for name, cut, says, endings in _CUTS
            for ending in endings
        ),
        *(
            _fault(f"stream-{name}", f"200 with {says}", Answer(side=Side.AFTER, content=content), coverage=coverage)
            for name, content, says, coverage in _CONTENTS
        ),
        _fault(
            "stream-stall",
            "a stream that goes silent between two events",
            Answer(side=Side.AFTER, cut=Point.EVENT),
            authority=_RFC_CUT,
            coverage=left_at_once(ONCE),
        ),
        _fault(
            "stream-spaced",
            "a healthy stream, a third of the read timeout between two events: three read timeouts in all",
            Answer(side=Side.AFTER, pace=Spaced(pause=1 / 3)),
            authority="a forwarder times silence, and has no deadline on the whole",
        ),
        _fault(
            "stream-pings",
            "a healthy stream with comments between its events, as they keep connections alive",
            Answer(side=Side.AFTER, content=Content.PINGS),
            authority="WHATWG HTML s9.2.7: comments keep connections alive, and mean nothing",
        ),
    ]


def _fault(id_: str, says: str, act: Answer, *, authority: str = _RFC_2XX, coverage: Coverage = ONCE) -> Fault:
    return Fault(id=id_, says=says, act=act, row="B4", authority=authority, no_twin=RAN, coverage=coverage)
