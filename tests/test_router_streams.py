"""Streams as the router sends them: what each fault of a stream leaves of it, byte by byte, and when."""

import h11
import pytest

from fake_router.forms import DONE, ERROR, PING, SOME, stream_events
from fake_router.parts import Gap
from fake_router.replies import Reply, content_of, render
from faults.acts import HEALTHY, Act
from faults.answer import STREAM_STEPS, Answer
from faults.catalogue import CATALOGUE
from faults.fault import Fault
from faults.form import STREAM, Api, Form
from faults.vocabulary import Ending, Framing, Phase, Side

CHAT = Form(api=Api.CHAT, stream=True)
FAULTS = [fault for fault in CATALOGUE.values() if fault.phase is Phase.STREAM]
EVENTS = stream_events(Api.COMPLETIONS, 7, 1, 1)


def _sent(act: Act, form: Form = STREAM) -> Reply:
    assert isinstance(act, Answer)
    return render(act, 7, 1, 1, form)


def _bytes(reply: Reply) -> bytes:
    return b"".join(part for part in reply.parts if isinstance(part, bytes))


def _read(data: bytes) -> tuple[bytes, list[bytes], bool]:
    """The head's content type, each chunk as it was sent, and whether the last one came."""
    http = h11.Connection(h11.CLIENT)
    http.send(h11.Request(method="POST", target="/", headers=[("Host", "h")]))
    http.send(h11.EndOfMessage())
    http.receive_data(data)
    kind, chunks = b"", [b""]
    while True:
        match http.next_event():
            case h11.Response(headers=headers):
                kind = dict(headers)[b"content-type"]
            case h11.Data(data=piece, chunk_end=ends):
                chunks[-1] += bytes(piece)
                chunks += [b""] if ends else []
            case h11.EndOfMessage():
                return kind, [chunk for chunk in chunks if chunk], True
            case _:
                return kind, chunks, False


@pytest.mark.parametrize(
    ("fault", "chunks", "whole"),
    [
        ("head-fin", [b""], False),
        ("head-reset", [b""], False),
        ("stream-event-fin", [*EVENTS[:SOME], b""], False),
        ("stream-event-reset", [*EVENTS[:SOME], b""], False),
        ("stream-stall", [*EVENTS[:SOME], b""], False),
        ("stream-done-fin", [*EVENTS, b""], False),
        ("stream-no-done", EVENTS, True),
        ("stream-no-events", [], True),
        ("stream-error-event", [*EVENTS[:SOME], ERROR], True),
        ("stream-error-event-done", [*EVENTS[:SOME], ERROR, DONE], True),
        ("stream-spaced", [*EVENTS, DONE], True),
        ("stream-pings", [*(part for event in EVENTS for part in (PING, event)), DONE], True),
    ],
)
def test_every_event_is_a_chunk_and_a_fault_leaves_so_many_of_them(
    fault: str, chunks: list[bytes], whole: bool
) -> None:
    """An empty chunk at the end stands for one that never came."""
    kind, got, ended = _read(_bytes(_sent(CATALOGUE[fault].act)))
    assert kind.startswith(b"text/event-stream")
    assert (got, ended) == (chunks, whole)


def test_a_stream_is_cut_inside_an_event() -> None:
    """Some whole ones, and a part of the next."""
    _, got, ended = _read(_bytes(_sent(CATALOGUE["stream-in-event-fin"].act)))
    *before, part = got
    assert (before, ended) == (EVENTS[:SOME], False)
    assert 0 < len(part) < len(EVENTS[SOME])
    assert EVENTS[SOME].startswith(part)


def test_an_answer_in_place_of_a_stream_is_the_whole_answer() -> None:
    """JSON, and framed as JSON is."""
    reply = _sent(CATALOGUE["stream-unstreamed"].act, CHAT)
    assert b"\r\nContent-Type: application/json\r\n" in _bytes(reply)
    assert b'"chat.completion"' in _bytes(reply)


def test_a_spaced_stream_pauses_before_each_event() -> None:
    """The head comes at once; [DONE] and the last chunk come together."""
    head, *rest = _sent(CATALOGUE["stream-spaced"].act).parts
    assert isinstance(head, bytes)
    assert head.endswith(b"\r\n\r\n")
    gaps, events = rest[::2], rest[1::2]
    assert gaps == [Gap(length=1 / 3)] * (STREAM_STEPS + 1)
    assert b"".join(event for event in events if isinstance(event, bytes)) == _bytes(_sent(HEALTHY))[len(head) :]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
@pytest.mark.parametrize("form", [STREAM, CHAT])
def test_what_is_sent_is_a_prefix_of_what_a_judge_computes(fault: Fault, form: Form) -> None:
    """And all of it where the reply is whole."""
    assert isinstance(fault.act, Answer)
    reply = _sent(fault.act, form)
    content = content_of(fault.act, 7, 1, 1, form)
    _, chunks, _ = _read(_bytes(reply))
    assert content.startswith(b"".join(chunks))
    assert reply.complete is (b"".join(chunks) == content and not fault.act.incomplete)


@pytest.mark.parametrize("framing", [Framing.CHUNKED, Framing.TRAILERS, Framing.CLOSE])
def test_a_stream_comes_in_any_framing_but_by_its_length(framing: Framing) -> None:
    """What would have a length is chunked: nobody knows it when a stream begins."""
    ending = Ending.FIN if framing is Framing.CLOSE else None
    data = _bytes(_sent(Answer(side=Side.AFTER, framing=framing, ending=ending)))
    assert b"Content-Length" not in data
    assert (b"Transfer-Encoding: chunked" in data) is (framing is not Framing.CLOSE)
    assert b"Content-Length" not in _bytes(_sent(HEALTHY))
