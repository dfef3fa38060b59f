"""The table of the guess: what each kind proves, and that no kind proves more than its phase allows."""

import inspect
import ssl
from typing import Any

import aiohttp
import pytest
from aiohttp import client_exceptions
from aiohttp.client_reqrep import ConnectionKey

from forwarder.errors import (
    ForwardError,
    MayHaveRunError,
    NotExecutedError,
    RejectedError,
    ResultLostError,
    error_for,
)
from forwarder.evidence import TABLE, Evidence, Kind, Marker, Proves, excerpt, kind_of_status
from forwarder.failure import kind_of_failure
from forwarder.policy import NO_WORKERS

UNWRITTEN = {Kind.UNSENT, Kind.DNS, Kind.CONNECT, Kind.CONNECT_TIMEOUT, Kind.TLS}
SAFE_ANSWERS = {Kind.NOT_ACCEPTED, Kind.NOT_APPLIED}
CONTRACT = (NO_WORKERS,)


def test_every_kind_is_placed_and_only_unwritten_requests_and_two_answers_prove_that_nothing_ran() -> None:
    """A new kind breaks this test until somebody decides what it proves."""
    assert set(TABLE) == set(Kind)
    assert {kind for kind, (proves, _) in TABLE.items() if proves is Proves.NOT_EXECUTED} == UNWRITTEN | SAFE_ANSWERS
    assert all(why for _, why in TABLE.values())


def _all_errors() -> list[BaseException]:
    key = ConnectionKey("127.0.0.1", 1, False, True, None, None, None)
    os_error = ConnectionResetError(104, "Connection reset by peer")
    info = aiohttp.RequestInfo("http://x", "POST", {})  # type: ignore[arg-type]
    made: list[BaseException] = [
        os_error,
        BrokenPipeError(32, "x"),
        TimeoutError(),
        OSError(24, "x"),
    ]
    class_: Any
    for name, class_ in inspect.getmembers(client_exceptions, inspect.isclass):
        if not issubclass(class_, BaseException) or class_.__module__ != client_exceptions.__name__:
            continue
        if issubclass(class_, client_exceptions.ClientConnectorCertificateError):
            made.append(class_(key, ssl.SSLCertVerificationError("x")))
        elif issubclass(class_, client_exceptions.ClientConnectorError):
            made.append(class_("/x", key, os_error) if "Unix" in name else class_(key, os_error))
        elif issubclass(class_, client_exceptions.ServerFingerprintMismatch):
            made.append(class_(b"x", b"y", "h", 1))
        elif issubclass(class_, client_exceptions.TooManyRedirects | client_exceptions.ClientResponseError):
            made.append(class_(info, ()))
        else:
            made.append(class_("x"))
    return made


@pytest.mark.parametrize("error", _all_errors(), ids=lambda error: type(error).__name__)
def test_the_phase_decides_and_never_the_class_of_the_exception(error: BaseException) -> None:
    """Before a connection is handed over every error proves that nothing ran; after it, none does."""
    assert TABLE[kind_of_failure(error, handed_over=False)][0] is Proves.NOT_EXECUTED
    assert TABLE[kind_of_failure(error, handed_over=True)][0] is Proves.NOTHING


def test_every_status_has_one_meaning() -> None:
    """Without the contract's text, 408, 417, 421 and 425 are the only statuses that prove that nothing ran."""
    for status in range(100, 1000):
        kind = kind_of_status(status, b"{}", CONTRACT)
        assert (kind is None) == (200 <= status <= 299), status
        if kind is None:
            continue
        proves = TABLE[kind][0]
        assert (proves is Proves.NOT_EXECUTED) == (status in (408, 417, 421, 425)), status
        assert (proves is Proves.ANSWERED) == (300 <= status <= 499 and status not in (408, 417, 421, 425, 429)), status
        assert proves is not Proves.EXECUTED, status


def test_the_contract_covers_exactly_its_status_and_its_text() -> None:
    """503 with the published text is "not accepted"; another text or another status is not."""
    text = b'{"message":"No available workers"}'
    assert kind_of_status(503, text, CONTRACT) is Kind.NOT_ACCEPTED
    assert kind_of_status(503, b"overloaded", CONTRACT) is Kind.SERVER_ERROR
    assert kind_of_status(500, text, CONTRACT) is Kind.SERVER_ERROR
    assert kind_of_status(503, text, ()) is Kind.SERVER_ERROR
    assert kind_of_status(200, text, (Marker(status=503, text="No"),)) is None


@pytest.mark.parametrize(("status", "text"), [(200, "x"), (299, "x"), (600, "x"), (503, "")])
def test_a_contract_that_cannot_be_is_refused(status: int, text: str) -> None:
    """A 2xx was accepted, and an empty text would match every answer."""
    with pytest.raises(ValueError, match=r"contract (status|text)"):
        Marker(status=status, text=text)


ERRORS: dict[Proves, type[ForwardError]] = {
    Proves.NOT_EXECUTED: NotExecutedError,
    Proves.NOTHING: MayHaveRunError,
    Proves.EXECUTED: ResultLostError,
    Proves.ANSWERED: RejectedError,
}


def _failed(kind: Kind) -> Evidence:
    return Evidence(kind=kind, says=f"it was {kind.name}")


@pytest.mark.parametrize("first", Kind)
@pytest.mark.parametrize("last", Kind)
def test_not_executed_is_claimed_only_when_every_attempt_proves_it(first: Kind, last: Kind) -> None:
    """One attempt that proves nothing loses the claim, whatever came after it."""
    error = error_for([_failed(first), _failed(last)])
    both = {TABLE[first][0], TABLE[last][0]}
    assert isinstance(error, NotExecutedError) == (both == {Proves.NOT_EXECUTED})
    assert error.attempts == 2
    assert [failure.kind for failure in error.failures] == [first, last]
    if TABLE[first][0] is Proves.NOT_EXECUTED:
        assert type(error) is ERRORS[TABLE[last][0]]
        assert error.evidence.kind is last


def test_a_doubtful_attempt_is_the_evidence_even_if_a_safe_one_followed() -> None:
    """The message names what cost the claim, and how many attempts there were."""
    error = error_for([_failed(Kind.SERVER_ERROR), _failed(Kind.CONNECT)])
    assert type(error) is MayHaveRunError
    assert error.evidence.kind is Kind.SERVER_ERROR
    assert error.says == str(error) == "may have run (2 attempts): it was SERVER_ERROR"


def test_each_claim_has_an_error_class() -> None:
    """The classes are a closed union over what evidence can prove."""
    assert set(ERRORS) == set(Proves)
    assert len(set(ERRORS.values())) == len(Proves)


def test_an_excerpt_quotes_the_beginning_and_tells_the_size() -> None:
    """A long or binary body does not flood a message."""
    assert excerpt(b"\xff<html>") == "'\ufffd<html>'"
    assert excerpt(b"a" * 300) == f"'{'a' * 200}'... (300 bytes)"
