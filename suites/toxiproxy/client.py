"""The only file that uses toxiproxy-python: Toxiproxy's API, typed, and never on an event loop.

Version 0.1.1 is of 2019. Worked around here, and nowhere else:

- It is synchronous. Each call is made on a thread of its own, which nobody has to wait for.
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
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any
from urllib.parse import quote

import requests
from toxiproxy.api import APIConsumer
from toxiproxy.exceptions import InvalidToxic, NotFound, ProxyExists
from urllib3.exceptions import HTTPError, ReadTimeoutError

from faults.toxics import Direction, Down, Toxic
from suites.toxiproxy.answers import (
    EXPECTED_API,
    Proxy,
    field_of,
    in_its_words,
    lies_in,
    lost_in,
    not_its_api,
    proxy_of,
    wanted_proxy,
)
from suites.toxiproxy.errors import NoAnswerError, NotToxiproxyError, RefusedError, ToxiproxyError, UnreachableError
from suites.toxiproxy.side_thread import on_a_thread
from suites.way import Address

MAJOR = "2"
UNVERSIONED = "git"  # what a server says of itself that was built without a version
ANSWER_S = 5.0  # for each read; a server gives up on a blocked connection after 25 s
CEILING_S = 8.0  # for a whole call
WhyGone = Callable[[], Awaitable[str | None]]
LARGEST_ANSWER_BYTES = 1 << 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Laid:
    """A toxic that lies over a proxy; `name` tells it from others there, and is None for one that needs none."""

    proxy: Proxy
    toxic: Toxic
    name: str | None


class ToxiproxyClient:
    """The API of one Toxiproxy server. Each method returns when the server has done it.

    Raises UnreachableError when nobody answers, NoAnswerError when no answer comes in time, NotToxiproxyError when
    it is none of this API's, and RefusedError when the server says no.
    """

    def __init__(self, address: Address, *, why_gone: WhyGone | None = None) -> None:
        self.url = f"http://{address[0]}:{address[1]}"
        self._api = _consumer_of(address)
        self._why_gone = why_gone  # asked when nobody answers: how a server of our own ended

    async def version(self) -> str:
        """Its version. Raises NotToxiproxyError for another major version than 2."""
        answer = await self._call("get", "/version")
        version = field_of(answer, "version", str, self.url)
        if version != UNVERSIONED and version.split(".")[0] != MAJOR:
            raise NotToxiproxyError(f"Toxiproxy at {self.url} has version {version!r}; expected {MAJOR}.x")
        return version

    async def create(
        self, name: str, upstream: Address, *, listen: Address = ("127.0.0.1", 0), enabled: bool = True
    ) -> Proxy:
        """A new proxy; port 0 lets Toxiproxy choose one that is free."""
        wanted = wanted_proxy(name, upstream, listen, enabled)
        return proxy_of(await self._call("post", "/proxies", json=wanted), self.url)

    async def populate(self, proxies: Iterable[Proxy]) -> list[Proxy]:
        """Proxies that are as described, made anew where one of that name is not."""
        wanted = [wanted_proxy(proxy.name, proxy.upstream, proxy.listen, proxy.enabled) for proxy in proxies]
        answer = await self._call("post", "/populate", json=wanted)
        return [proxy_of(one, self.url) for one in field_of(answer, "proxies", list, self.url)]

    async def proxies(self) -> dict[str, Proxy]:
        """All there are, also those of others. Hangs while any connection of any proxy blocks a toxic's change."""
        answer = await self._call("get", "/proxies")
        if not isinstance(answer, dict):
            raise not_its_api(self.url, answer)
        return {name: proxy_of(one, self.url) for name, one in answer.items()}

    async def lay(self, proxy: Proxy, toxic: Toxic, *, name: str | None = None) -> Laid:
        """Lay a toxic over a proxy: all that Toxiproxy reads afterwards, on open connections too, passes through it.

        `name`: needed where two of one kind lie over the same direction.
        """
        match toxic:
            case Down():
                await self.disable(proxy)
                return Laid(proxy=proxy, toxic=toxic, name=None)
            case _:
                kind, attributes = in_its_words(toxic)
                name = name or f"{kind}_{toxic.direction}"
                wanted = {
                    "name": name,
                    "type": kind,
                    "stream": str(toxic.direction),
                    "toxicity": toxic.toxicity,
                    "attributes": attributes,
                }
                await self._call("post", f"{_path(proxy)}/toxics", json=wanted)
                return Laid(proxy=proxy, toxic=toxic, name=name)

    async def lift(self, laid: Laid) -> None:
        """Take a toxic away; what it held is passed on at once (a `Timeout` closes its connections instead)."""
        if laid.name is None:
            await self.enable(laid.proxy)
        else:
            await self._call("delete", f"{_path(laid.proxy)}/toxics/{quote(laid.name, safe='')}")

    async def enable(self, proxy: Proxy) -> None:
        """It listens."""
        await self._call("post", _path(proxy), json={"enabled": True})

    async def disable(self, proxy: Proxy) -> None:
        """It listens no more, and its connections are closed."""
        await self._call("post", _path(proxy), json={"enabled": False})

    async def delete(self, proxy: Proxy) -> None:
        """It is gone, and so are its connections."""
        await self._call("delete", _path(proxy))

    async def heal(self, proxy: Proxy) -> None:
        """No toxic lies over it, and it listens."""
        answer = await self._call("get", _path(proxy))
        for toxic in field_of(answer, "toxics", list, self.url):
            name = quote(field_of(toxic, "name", str, self.url), safe="")
            await self._call("delete", f"{_path(proxy)}/toxics/{name}")
        await self.enable(proxy)

    async def lying(self, proxy: Proxy, toxics: Iterable[Toxic]) -> bool:
        """Each of these lies over it, as it was described."""
        answer = await self._call("get", _path(proxy))
        return all(lies_in(answer, toxic, self.url) for toxic in toxics)

    async def lost(self, proxy: Proxy) -> dict[Direction, int]:
        """How many bytes came to it and never left it, of the connections that are over by now. Raises
        NotToxiproxyError for a server that does not count them (started without `-proxy-metrics`).
        """
        text = await self._call("get", "/metrics", as_text=True)
        return lost_in(text, proxy.name, self.url)

    async def reset(self) -> None:
        """Every proxy of the server is healed, also those of others."""
        await self._call("post", "/reset")

    async def _call(self, method: str, path: str, *, as_text: bool = False, **options: Any) -> Any:
        try:
            async with asyncio.timeout(CEILING_S):
                return await on_a_thread(lambda: self._ask(method, path, options, as_text=as_text))
        except TimeoutError:
            raise _no_answer(self.url, path) from None
        except UnreachableError:
            if self._why_gone is None or (why := await self._why_gone()) is None:
                raise
            raise UnreachableError(f"Toxiproxy at {self.url} {why}") from None

    def _ask(self, method: str, path: str, options: Mapping[str, Any], *, as_text: bool) -> Any:
        try:
            response = getattr(self._api, method)(path, **_BOUNDED, **options)
        except (ProxyExists, NotFound, InvalidToxic) as error:
            raise self._refusal(path, error.args[0]) from None
        except requests.ConnectionError as error:
            why = _innermost(error)
            if isinstance(why, HTTPException) and not isinstance(why, ConnectionError):  # what came is no HTTP
                raise NotToxiproxyError(f"{self.url} does not speak HTTP as Toxiproxy does: {why}") from None
            raise UnreachableError(f"Toxiproxy at {self.url} cannot be reached: {why}") from None
        except requests.Timeout:
            raise _no_answer(self.url, path) from None
        except (requests.RequestException, ValueError) as error:  # urllib3's LocationParseError among the ValueErrors
            raise NotToxiproxyError(f"{self.url} does not speak HTTP as Toxiproxy does: {error}") from None
        if as_text and response.status_code == 200:
            return response.content.decode(errors="replace")
        return self._taken_apart(path, response.status_code, response.content)

    def _taken_apart(self, path: str, status: int, body: bytes) -> Any:
        if status == 204:
            return None
        if status == 503:  # its own limit of 25 s for a change
            raise _no_answer(self.url, path)
        try:
            answer = json.loads(body)
        except ValueError:
            raise not_its_api(self.url, body) from None
        if status not in (200, 201):
            raise self._refusal(path, body)
        return answer

    def _refusal(self, path: str, body: bytes) -> ToxiproxyError:
        try:
            said = field_of(json.loads(body), "error", str, self.url)
        except (ValueError, NotToxiproxyError):
            return not_its_api(self.url, body)
        return RefusedError(f"Toxiproxy at {self.url} refused {path}: {said}")


def _consumer_of(address: Address) -> type[Any]:
    class Consumer(APIConsumer):  # type: ignore[misc]  # the package has no types
        host, port = address

    return Consumer


def _bounded(response: requests.Response, **_options: Any) -> requests.Response:
    """The answer, read up to a limit; `requests` itself has none."""
    try:
        body = response.raw.read(LARGEST_ANSWER_BYTES + 1, decode_content=True)
    except ReadTimeoutError:
        raise NoAnswerError(f"{response.url} began an answer and did not end it within {ANSWER_S:.0f} s") from None
    except HTTPError as error:  # urllib3's: a false coding, or a body that is cut
        raise NotToxiproxyError(f"{response.url} answered what cannot be read ({error}); {EXPECTED_API}") from None
    finally:
        response.close()
    if len(body) > LARGEST_ANSWER_BYTES:
        raise NotToxiproxyError(f"{response.url} answered with more than {LARGEST_ANSWER_BYTES} bytes; {EXPECTED_API}")
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


def _path(proxy: Proxy) -> str:
    return f"/proxies/{quote(proxy.name, safe='')}"


def _no_answer(url: str, path: str) -> NoAnswerError:
    return NoAnswerError(
        f"Toxiproxy at {url} did not do {path} in time; a toxic cannot be changed while a connection in its direction "
        "is blocked because nobody reads from it"
    )


def _innermost(error: BaseException) -> BaseException:
    """The cause that the layers above wrap in prose."""
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    return error
