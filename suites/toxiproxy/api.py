"""The only file that uses toxiproxy-python: calls of Toxiproxy's API, bounded, and never on an event loop.

Version 0.1.1 is of 2019. Worked around here, and nowhere else:

- It is synchronous. Each call has a thread to itself, which nobody has to wait for.
- It opens a connection, and makes all that a session of `requests` is made of, for each call. Its consumer is given
  the sessions of those threads instead: of a check under latency a tenth of the CPU or more (measured).
- It is configured by class attributes. Each client has a subclass of its own: two servers do not meet.
- Its `Proxy` and `Toxiproxy` pass no time-out, list all proxies before they make one (a list that hangs while *any*
  proxy is blocked), and take an answer apart before they look at its status (a port in use becomes a KeyError). So
  its consumer of the API is used directly, which passes on what `requests` takes.
- `requests` obeys HTTP_PROXY, follows redirects and reads answers of any length. It is told not to.
- Only 400, 404 and 409 are errors to it, and `running()` is true for any port that accepts.
- It updates with POST, which servers call deprecated since 2.6.0 and still do.
"""

import asyncio
import io
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.client import HTTPException
from typing import Any

import requests
from toxiproxy.api import APIConsumer, validate_response
from toxiproxy.exceptions import InvalidToxic, NotFound, ProxyExists
from urllib3.exceptions import HTTPError, ReadTimeoutError

from suites.printable import shortened
from suites.side_thread import SideThreads
from suites.toxiproxy.answers import EXPECTED_API, SHOWN_CHARACTERS, field_of, not_its_api
from suites.toxiproxy.errors import (
    NoAnswerError,
    NotToxiproxyError,
    RefusedError,
    ToxiproxyError,
    UnknownNameError,
    UnreachableError,
)
from suites.way import Address

ANSWER_S = 5.0  # for each read; a server gives up on a blocked connection after 25 s
CEILING_S = 8.0  # for a whole call
WhyGone = Callable[[], Awaitable[str | None]]
LARGEST_ANSWER_BYTES = 1 << 24
COUNTS = "/metrics"  # how many bytes its proxies received and sent


class Api:
    """The API of the server at that address, call by call. Each call returns when the server has done it.

    Raises UnreachableError when nobody answers, NoAnswerError when no answer comes in time, NotToxiproxyError when
    it is none of this API's, and RefusedError when the server says no.
    """

    def __init__(self, address: Address, *, why_gone: WhyGone | None = None) -> None:
        self.url = f"http://{address[0]}:{address[1]}"
        self._threads: SideThreads[type[Any]] = SideThreads(partial(_consumer_of, address))
        self._why_gone = why_gone  # asked when nobody answers: how a server of our own ended

    async def call(self, method: str, path: str, *, as_text: bool = False, **options: Any) -> Any:
        """What it answers, as JSON taken apart, or as text. `options`: what `requests` takes."""
        try:
            async with asyncio.timeout(CEILING_S):
                return await self._threads.call(partial(self._ask, method, path, options, as_text))
        except TimeoutError:
            raise _no_answer(self.url, path) from None
        except UnreachableError:
            if self._why_gone is None or (why := await self._why_gone()) is None:
                raise
            raise UnreachableError(f"Toxiproxy at {self.url} {why}") from None

    def _ask(self, method: str, path: str, options: Mapping[str, Any], as_text: bool, api: type[Any]) -> Any:
        try:
            response = getattr(api, method)(path, **_BOUNDED, **options)
        except (ProxyExists, NotFound, InvalidToxic) as error:
            raise self._refusal(path, error.args[0], _STATUSES[type(error)]) from None
        except requests.ConnectionError as error:
            why = _innermost(error)
            if isinstance(why, HTTPException) and not isinstance(why, ConnectionError):  # what came is no HTTP
                raise NotToxiproxyError(f"{self.url} does not speak HTTP as Toxiproxy does: {_shown(why)}") from None
            raise UnreachableError(f"Toxiproxy at {self.url} cannot be reached: {why}") from None
        except requests.Timeout:
            raise _no_answer(self.url, path) from None
        except (requests.RequestException, ValueError) as error:  # urllib3's LocationParseError among the ValueErrors
            raise NotToxiproxyError(f"{self.url} does not speak HTTP as Toxiproxy does: {_shown(error)}") from None
        if as_text and response.status_code == 200:
            return response.content.decode(errors="replace")
        return self._taken_apart(path, response.status_code, response.content)

    def _taken_apart(self, path: str, status: int, body: bytes) -> Any:
        if status == 204:
            return None
        if status == 503 and not body:  # its own limit of 25 s for a change
            raise _no_answer(self.url, path)
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            raise not_its_api(self.url, body, status) from None
        if status not in (200, 201):
            raise self._refusal(path, body, status)
        return answer

    def _refusal(self, path: str, body: bytes, status: int) -> ToxiproxyError:
        try:
            said = field_of(json.loads(body), "error", str, self.url)
        except (ValueError, RecursionError, NotToxiproxyError):
            return not_its_api(self.url, body, status)
        kind = UnknownNameError if status == 404 else RefusedError
        return kind(f"Toxiproxy at {self.url} refused {path}: {said}")


_STATUSES = {InvalidToxic: 400, NotFound: 404, ProxyExists: 409}  # its API's exceptions keep none


@contextmanager
def _consumer_of(address: Address) -> Iterator[type[Any]]:
    """One for one thread, on connections that are kept until this is left."""
    with requests.Session() as session:
        session.trust_env = False  # which looks for a .netrc at each call

        class Consumer(APIConsumer):  # type: ignore[misc]  # the package has no types
            host, port = address

            @classmethod
            def get(cls, url: str, **options: Any) -> Any:
                return cls.ask("GET", url, **options)

            @classmethod
            def post(cls, url: str, **options: Any) -> Any:
                return cls.ask("POST", url, **options)

            @classmethod
            def delete(cls, url: str, **options: Any) -> Any:
                return cls.ask("DELETE", url, **options)

            @classmethod
            def ask(cls, method: str, url: str, **options: Any) -> Any:
                return validate_response(session.request(method, f"http://{cls.host}:{cls.port}{url}", **options))

        yield Consumer


def _bounded(response: requests.Response, **_options: Any) -> requests.Response:
    """The answer, read up to a limit; `requests` itself has none."""
    try:
        body = response.raw.read(LARGEST_ANSWER_BYTES + 1, decode_content=True)
    except ReadTimeoutError:
        raise NoAnswerError(f"{response.url} began an answer and did not end it within {ANSWER_S:.0f} s") from None
    except HTTPError as error:  # urllib3's: a false coding, or a body that is cut
        raise NotToxiproxyError(
            f"{response.url} answered what cannot be read ({_innermost(error)}); {EXPECTED_API}"
        ) from None
    finally:
        response.close()
    if len(body) > LARGEST_ANSWER_BYTES:
        counts = response.url.endswith(COUNTS)
        expected = "it counts every proxy that it ever had: restart it" if counts else EXPECTED_API
        raise NotToxiproxyError(f"{response.url} answered with more than {LARGEST_ANSWER_BYTES} bytes; {expected}")
    short = requests.Response()
    short.status_code, short.headers, short.raw = response.status_code, response.headers, io.BytesIO(body)
    short.url, short.request = response.url, response.request  # looked at where there is a Location
    return short


_BOUNDED: Mapping[str, Any] = {
    "timeout": ANSWER_S,
    "allow_redirects": False,
    "proxies": {"http": None, "all": None},  # None removes what the environment says
    "hooks": {"response": _bounded},
}


def _shown(error: BaseException) -> str:
    return shortened(str(error).strip(), SHOWN_CHARACTERS)


def _no_answer(url: str, path: str) -> NoAnswerError:
    if not path.startswith("/proxies/"):
        return NoAnswerError(f"Toxiproxy at {url} did not answer {path} in time")
    return NoAnswerError(
        f"Toxiproxy at {url} did not do {path} in time; a toxic cannot be changed while a connection in its direction "
        "is blocked because nobody reads from it"
    )


def _innermost(error: BaseException) -> BaseException:
    """The cause that the layers above wrap in prose."""
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    return error
