"""The reference over httpx: what measurements are held against. It says of a failure what the one over aiohttp says."""

import asyncio
import subprocess
import sys

import pytest

from forwarder import BLANKET_5XX, Forwarder, ForwardError, MayHaveRunError, Settings
from forwarder.carrier import CARRIERS, MissingCarrierError, carrier_named
from suites.reference import reference_subject
from tests.raw_router import OK, SILENCE, RawRouter, result
from tests.test_forwarder_exchange import CASES, HASTY, PATIENT, REQUEST

ALIKE = [name for name in CASES if name not in ("part of a status line", "half without a length")]


@pytest.mark.parametrize("case", ALIKE)
async def test_each_failure_is_named_as_over_aiohttp(case: str) -> None:
    """The policy is judged, not the client: both have the same evidence in hand."""
    act, kind, error, _, attempts = CASES[case]
    settings = HASTY if "silence" in case else PATIENT
    async with (
        RawRouter([act] * 2) as router,
        Forwarder([router.url], policy=BLANKET_5XX, settings=settings, http_client="httpx") as forwarder,
    ):
        with pytest.raises(ForwardError) as caught:
            await forwarder.complete(REQUEST)
        assert type(caught.value) is error
        assert [failure.kind for failure in caught.value.failures] == [kind] * attempts
        assert router.requests == attempts


async def test_a_connection_is_used_again_and_closing_ends_what_is_in_flight() -> None:
    """The pool is httpx's own."""
    async with RawRouter([OK, OK, SILENCE]) as router:
        async with Forwarder([router.url], settings=PATIENT, http_client="httpx") as forwarder:
            assert (await forwarder.complete(REQUEST)).raw == result()
            await forwarder.complete(REQUEST)
            assert (router.requests, router.connections) == (2, 1)
            held = asyncio.ensure_future(forwarder.complete(REQUEST))
            await router.until(3)
        with pytest.raises(MayHaveRunError, match="the forwarder was closed"):
            await held


def test_httpx_is_imported_only_where_it_is_named() -> None:
    """Who does not measure needs no httpx."""
    code = (
        "import sys, forwarder.__main__, forwarder.api.app; from forwarder import Forwarder; Forwarder(['http://h:1'])"
    )
    subprocess.run([sys.executable, "-c", f"{code}; assert 'httpx' not in sys.modules"], check=True)


def test_httpx_that_is_missing_is_said_with_its_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the library and by the subject, which is then not run."""
    monkeypatch.setitem(sys.modules, "forwarder.httpx_transport", None)
    with pytest.raises(MissingCarrierError, match=r"pip install 'retryproof\[bench\]'"):
        Forwarder(["http://h:1"], settings=Settings(), http_client="httpx")
    missing = reference_subject("httpx", "").missing()
    assert missing is not None
    assert missing.startswith("reference:httpx: httpx cannot be imported")
    assert reference_subject(None, "").missing() is None


def test_another_client_is_refused_with_the_names_that_exist() -> None:
    """By value."""
    with pytest.raises(ValueError, match=f"'requests'; expected one of {', '.join(CARRIERS)}"):
        carrier_named("requests")
