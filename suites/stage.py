"""A router and an instance of the subject in front of it, for one run or for several."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar

from fake_router.entries import AnyEntry, Received
from fake_router.server import Router
from fake_router.thread import RouterThread
from suites.subject import Instance, Subject

T = TypeVar("T")


@dataclass(slots=True, kw_only=True)
class Stage:
    """Both ends of the hop. The router lives on the routers' thread and is only touched there."""

    subject: Subject
    instance: Instance
    router: Router
    routers: RouterThread
    ports: tuple[int, ...]

    @staticmethod
    @asynccontextmanager
    async def open(subject: Subject, routers: RouterThread) -> AsyncIterator["Stage"]:
        """Start both, and end both whatever happens. Raises SubjectError."""
        router = await routers.call(_new_router, subject.spec.upstreams)
        try:
            instance = await subject.start([("127.0.0.1", port) for port in router.ports])
            stage = Stage(subject=subject, instance=instance, router=router, routers=routers, ports=router.ports)
            try:
                yield stage
            finally:
                await instance.stop()
        finally:
            await routers.call(router.close)
