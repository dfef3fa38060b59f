"""The control API: arm, heal, drain, open gates, read the ledger and start over, as JSON over HTTP.

It has no authentication, so it listens on a loopback address unless told otherwise.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

import msgspec
from aiohttp import web

from fake_router.account import Accountant, account_lines
from fake_router.asked import fields_in
from fake_router.bound import bound, written
from fake_router.ledger import dump, dump_more
from fake_router.server import Router
from faults.driven import refuse_undriven
from faults.mix import mix_from
from faults.plan_json import plan_from_json

MAX_BODY_BYTES = 1024 * 1024
MAX_DIGITS = 18  # of a seq
FOLLOWED = 500  # entries that are written to a follower at once
COUNTED = 5_000  # entries that are counted at once
LINES = "application/jsonl"
PLAN_KEYS: dict[str, type] = {"plan": dict, "first_operation": int, "read_timeout_ms": int}
MIX_KEYS: dict[str, type] = {"mix": dict, "seed": int, "read_timeout_ms": int}

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Control:
    """Serves the control API of one router, on the loop of that router."""

    def __init__(self, router: Router, *, host: str = "127.0.0.1", port: int = 0) -> None:
        self._router = router
        self._host = host
        self._wanted = port
        self._counted = router.ledger
        self._accountant = Accountant()
        self._following: set[asyncio.Event] = set()
        self._closing = False
        self._runner = web.AppRunner(
            self._app(), access_log=None, logger=_silent(), shutdown_timeout=1.0, handler_cancellation=True
        )
        self.port = 0

    async def start(self) -> None:
        """Listen. Raises PortInUseError, or another ListenError."""
        await self._runner.setup()
        try:
            site = web.SockSite(self._runner, bound(self._host, self._wanted))
            await site.start()
        except OSError:
            await self.close()
            raise
        self.port = self._runner.addresses[0][1]

    async def close(self) -> None:
        """Stop listening, and end what is followed. Safe to call twice."""
        self._closing = True
        for news in self._following:
            news.set()
        await self._runner.cleanup()

    def _app(self) -> web.Application:
        app = web.Application(client_max_size=MAX_BODY_BYTES, middlewares=[_refusals])
        app.add_routes(
            [
                web.post("/arm", self._arm),
                web.post("/heal", self._heal),
                web.post("/drain", self._drain),
                web.post("/gates/{name}", self._gate),
                web.post("/release", self._release),
                web.post("/reset", self._reset),
                web.get("/ledger", self._ledger),
                web.get("/account", self._account),
                web.get("/status", self._status),
            ]
        )
        return app

    async def _arm(self, request: web.Request) -> web.Response:
        asked = fields_in(await request.read(), PLAN_KEYS, MIX_KEYS)
        if "mix" in asked:
            mix = mix_from(asked["mix"], "mix")
            left_out = self._router.arm_mix(mix, seed=asked["seed"], read_timeout_ms=asked["read_timeout_ms"])
            return self._answer(left_out=left_out)
        plan = plan_from_json(asked["plan"])
        refuse_undriven(plan)
        self._router.arm(
            plan,
            first_operation=asked["first_operation"],
            read_timeout_ms=asked["read_timeout_ms"],
        )
        return self._answer()

    async def _heal(self, _: web.Request) -> web.Response:
        self._router.heal()
        return self._answer()

    async def _drain(self, _: web.Request) -> web.Response:
        self._router.drain()
        return self._answer()

    async def _gate(self, request: web.Request) -> web.Response:
        self._router.open_gate(request.match_info["name"])
        return self._answer()

    async def _release(self, _: web.Request) -> web.Response:
        self._router.release()
        return self._answer()

    async def _reset(self, _: web.Request) -> web.Response:
        self._router.reset()
        return self._answer()

    async def _ledger(self, request: web.Request) -> web.StreamResponse:
        since = request.query.get("since", "0")
        if not (since.isascii() and since.isdecimal()) or len(since) > MAX_DIGITS:
            raise ValueError(f"since is {since!r}; expected the seq of an entry, or 0 for all")
        if _flag(request, "follow", "what there is now"):
            return await self._follow(request, int(since))
        return web.Response(body=dump(self._router.ledger.since(int(since))), content_type=LINES)

    async def _follow(self, request: web.Request, seq: int) -> web.StreamResponse:
        """Entries as they are made, until the client goes, the ledger is replaced, or the API is closed.

        A slow reader is waited for here, and nowhere else: no more than FOLLOWED entries are ever held for it.
        """
        ledger, news = self._router.ledger, asyncio.Event()
        response = web.StreamResponse(headers={"Content-Type": LINES})
        await response.prepare(request)
        await response.write(dump(()))
        forget = ledger.on_record(news.set)
        self._following.add(news)
        try:
            while True:
                news.clear()
                entries = ledger.since(seq, FOLLOWED)
                if entries:
                    await response.write(dump_more(entries))
                    seq = entries[-1].seq
                elif ledger is not self._router.ledger or self._closing:
                    return response
                else:
                    await news.wait()
        finally:
            forget()
            self._following.discard(news)

    async def _account(self, request: web.Request) -> web.StreamResponse:
        """Counted on from where the last call stopped, in slices, so that nobody else waits for long."""
        one_by_one = _flag(request, "operations", "the sums alone")
        if self._counted is not self._router.ledger:
            self._counted, self._accountant = self._router.ledger, Accountant()
        ledger, accountant = self._counted, self._accountant
        last = len(ledger)
        while accountant.seq < last:
            accountant.read(ledger.since(accountant.seq, COUNTED))
            await asyncio.sleep(0)
        account = accountant.account()
        if not one_by_one:
            return _json(200, account)
        response = web.StreamResponse(headers={"Content-Type": LINES})
        await response.prepare(request)
        for lines in account_lines(account, accountant.operations()):
            await response.write(lines)
        return response

    async def _status(self, _: web.Request) -> web.Response:
        return self._answer()

    def _answer(self, **more: object) -> web.Response:
        router = self._router
        return _json(
            200,
            {
                "upstreams": [written(router.host, port) for port in router.ports],
                "entries": len(router.ledger),
                "busy": router.busy(),
                "connections": router.connections(),
                "held": router.held(),
                "in_service": router.in_service(),
                "queued": router.queued(),
                **more,
            },
        )


def _silent() -> logging.Logger:
    """What is no HTTP is answered with a 400; a traceback for each would fill a pipe that nobody reads."""
    logger = logging.getLogger("fake_router.control")
    logger.propagate = False
    logger.addHandler(logging.NullHandler())
    return logger


@web.middleware
async def _refusals(request: web.Request, handler: Handler) -> web.StreamResponse:
    """What cannot be done is a 400, or the 4xx that the HTTP server says, with a message in JSON."""
    try:
        return await handler(request)
    except ValueError as error:
        return _json(400, {"error": str(error)})
    except web.HTTPClientError as error:
        allowed = error.headers.get("Allow")
        says = f"{request.method} {request.path}: {error.reason}" + (f"; expected {allowed}" if allowed else "")
        return _json(error.status, {"error": says})


def _flag(request: web.Request, name: str, without: str) -> bool:
    value = request.query.get(name, "0")
    if value not in ("0", "1"):
        raise ValueError(f"{name} is {value!r}; expected 1, or 0 for {without}")
    return value == "1"


def _json(status: int, value: object) -> web.Response:
    return web.Response(status=status, body=msgspec.json.encode(value) + b"\n", content_type="application/json")
