"""Who waits for one thing: each in its own place, so that one who leaves disturbs no other."""

import asyncio
from typing import Generic, TypeVar

T = TypeVar("T")


class Waiters(Generic[T]):
    """Everybody gets the same object, in the order in which they came."""

    __slots__ = ("_places",)

    def __init__(self) -> None:
        self._places: dict[asyncio.Future[T], None] = {}

    def __len__(self) -> int:
        return len(self._places)

    async def wait(self) -> T:
        """What they were woken with. Cancelling it leaves nothing behind."""
        place: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._places[place] = None
        try:
            return await place
        finally:
            self._places.pop(place, None)

    def wake(self, value: T) -> None:
        """It is there: whoever waits goes on at the next turn of the loop."""
        for place in self._places:
            if not place.done():
                place.set_result(value)
        self._places.clear()
