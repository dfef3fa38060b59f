"""An endpoint sends what its subject's keys say, plain or over TLS, and never believes a wrong certificate."""

import asyncio
import contextlib
import json
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trustme

from fake_router.content import operation_in, prompt_tokens
from faults.plan import PlannedOperation
from suites.endpoint import Endpoint, endpoint_of
from suites.given import Given, url_subject
from suites.history import Arrival, Kind
from suites.standing import StandingSubject
from suites.subject import SubjectError

CEILING_MS = 10_000
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
CUT = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}"


@asynccontextmanager
async def server(
    requests: list[bytes], answer: bytes = ANSWER, tls: ssl.SSLContext | None = None
) -> AsyncIterator[int]:
    """Takes every request down, answers it and closes. Its port."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        requests.append(head + await reader.readexactly(length))
        writer.write(answer)
        writer.close()
        await writer.wait_closed()

    serving = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    async with serving:
        yield serving.sockets[0].getsockname()[1]


def endpoint(url: str, *settings: str) -> Endpoint:
    options = Given(listen=("h:1",), speaks="openai-completions", promises="transparent", settings=settings)
    return endpoint_of(url_subject(url, options))


async def test_target_headers_and_body_are_as_the_keys_say() -> None:
    """A path in the URL is called as it is; the operation's number rides in the body."""
    requests: list[bytes] = []
    async with server(requests) as port:
        plain = endpoint(f"http://127.0.0.1:{port}/")
        own = endpoint(
            f"http://127.0.0.1:{port}/mine?x=1",
            "headers.Authorization=Bearer x",
            "headers.Host=other",
            'body={"m": "{model}", "prompt": "say {prompt_text}!", "ids": {prompt_tokens}}',
        )
        for one in (plain, own):
            assert (await one.call(PlannedOperation(), 7, CEILING_MS)).kind is Kind.OK
    head, _, body = requests[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /v1/completions HTTP/1.1\r\n")
    assert f"host: 127.0.0.1:{port}".encode() in head.lower()
    assert b"\r\nAccept-Encoding: identity\r\n" in head
    assert json.loads(body)["prompt"] == prompt_tokens(7)
    head, _, body = requests[1].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /mine?x=1 HTTP/1.1\r\n")
    assert head.lower().count(b"host:") == 1
    assert b"\r\nHost: other\r\n" in head
    assert b"\r\nAuthorization: Bearer x\r\n" in head
    asked = json.loads(body)
    assert (asked["m"], asked["ids"], operation_in(asked["prompt"])) == ("retryproof", prompt_tokens(7), 7)


@pytest.mark.parametrize(
    ("answer", "arrival", "behind"),
    [(ANSWER, Arrival.WHOLE, b""), (CUT, Arrival.CUT, b""), (ANSWER + b"?", Arrival.WHOLE, b"?")],
)
async def test_over_tls_an_answer_arrives_as_it_does_without(
    tmp_path: Path, answer: bytes, arrival: Arrival, behind: bytes
) -> None:
    """With the CA file of the subject; a cut one is cut, and what comes behind a whole one is seen."""
    ca, context = trustme.CA(), ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    ca.issue_cert("127.0.0.1").configure_cert(context)
    ca.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    async with server([], answer, context) as port:
        url = f"https://127.0.0.1:{port}"
        trusting = endpoint(url, f"ca_file={tmp_path / 'ca.pem'}")
        assert await trusting.unconnectable(10) is None
        outcome = await trusting.call(PlannedOperation(segments=2), 1, CEILING_MS)
        assert (outcome.arrival, outcome.status, outcome.body) == (arrival, 200, b"{}")
        assert outcome.behind == behind
        assert "issuer certificate" in (await endpoint(url).unconnectable(10) or "")
        refused = await endpoint(url).call(PlannedOperation(), 1, CEILING_MS)
        assert (refused.kind, refused.arrival) == (Kind.UNKNOWN, Arrival.NOTHING)
        assert refused.says.startswith("no connection: TLS: ")


@pytest.mark.parametrize(("polite", "arrival"), [(True, Arrival.WHOLE), (False, Arrival.CUT)])
async def test_an_end_without_close_notify_is_no_end_of_a_body(tmp_path: Path, polite: bool, arrival: Arrival) -> None:
    """RFC 8446 s6.1: a body that ends with its connection may have been cut there."""
    ca, context = trustme.CA(), ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    ca.issue_cert("127.0.0.1").configure_cert(context)
    ca.cert_pem.write_to_path(str(tmp_path / "ca.pem"))

    def serve_one(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with context.wrap_socket(connection, server_side=True) as tls:
            while not tls.recv(65536).endswith(b"}"):
                pass
            tls.sendall(b"HTTP/1.1 200 OK\r\n\r\n{}")
            if polite:
                with contextlib.suppress(ssl.SSLError):  # the caller says no such thing
                    tls.unwrap()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        serving = asyncio.create_task(asyncio.to_thread(serve_one, listener))
        trusting = endpoint(f"https://127.0.0.1:{port}", f"ca_file={tmp_path / 'ca.pem'}")
        outcome = await trusting.call(PlannedOperation(), 1, CEILING_MS)
        await serving
    assert (outcome.arrival, outcome.body) == (arrival, b"{}")


@pytest.mark.parametrize("prompt", ["retryproof operation 12345678901", "operation 7", "", "retryproof operation 0"])
def test_a_text_without_a_number_carries_no_operation(prompt: str) -> None:
    """Nor one that is too large."""
    assert operation_in(prompt) is None


@pytest.mark.parametrize(
    ("speaks_tls", "url", "settings", "says"),
    [
        (True, "https://127.0.0.1", (), "one of a CA that this machine trusts; name the file of its CA with `ca_file`"),
        (
            True,
            "https://127.0.0.1",
            ("ca_file=ca.pem",),
            "a certificate that can be believed, one of a CA in '.*ca.pem'",
        ),
        (False, "https://127.0.0.1", (), "expected one that speaks TLS there; or an http:// URL"),
        (True, "http://nowhere.invalid", (), "is not|not known|resolution.*expected a forwarder that is running there"),
    ],
)
async def test_why_it_cannot_be_reached_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, speaks_tls: bool, url: str, settings: tuple[str, ...], says: str
) -> None:
    """Nobody there, nobody to believe, or no TLS."""
    monkeypatch.chdir(tmp_path)
    trustme.CA().cert_pem.write_to_path("ca.pem")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    options = Given(listen=("h:1",), speaks="openai-completions", promises="transparent", settings=settings)

    async def answer_at_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(ANSWER)
        writer.close()

    serving = await asyncio.start_server(answer_at_once, "127.0.0.1", 0, ssl=context if speaks_tls else None)
    async with serving:
        port = serving.sockets[0].getsockname()[1]
        with pytest.raises(SubjectError, match=says):
            await StandingSubject(url_subject(f"{url}:{port}", options)).start()
