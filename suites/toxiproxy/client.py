"""What is asked of a Toxiproxy server, typed."""

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote

from faults.toxics import Direction, Down, Toxic
from suites.toxiproxy.answers import (
    Proxy,
    field_of,
    in_its_words,
    lies_in,
    lost_in,
    not_counting,
    not_its_api,
    proxy_of,
    wanted_proxy,
)
from suites.toxiproxy.api import COUNTS, Api, WhyGone
from suites.toxiproxy.errors import NotThereError, NotToxiproxyError
from suites.way import Address

MAJOR = "2"
UNVERSIONED = "git"  # what a server says of itself that was built without a version


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
        api = Api(address, why_gone=why_gone)
        self.url = api.url
        self._call = api.call

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
        try:
            text = await self._call("get", COUNTS, as_text=True)
        except NotThereError:
            raise not_counting(self.url) from None
        return lost_in(text, proxy.name, self.url)

    async def reset(self) -> None:
        """Every proxy of the server is healed, also those of others."""
        await self._call("post", "/reset")


def _path(proxy: Proxy) -> str:
    return f"/proxies/{quote(proxy.name, safe='')}"
