"""What became of operations whose outcome is gone: one byte each, in pages by the operation's counter."""

from array import array
from collections.abc import Callable

import numpy as np

from forwarder.futures.room import Room
from forwarder.futures.states import Event, State, after

PAGE = 4096  # operations
PAGE_BYTES = PAGE + 400
RECENT_PAGES = 256  # about a million operations: fates that are remembered although their session has ended

_STATES = (State.FORGOTTEN, State.EVICTED, State.EXPIRED)
_CODES = {state: code for code, state in enumerate(_STATES)}


class _Page:
    __slots__ = ("codes", "held")

    def __init__(self) -> None:
        self.codes = bytearray(PAGE)
        self.held = 0


class Fates:
    """A page is kept while a key or an outcome holds one of its operations, and while it is one of the newest.

    forgot: told the first and last counter of each page that is dropped.
    """

    def __init__(self, room: Room, forgot: Callable[[int, int], None]) -> None:
        self._room = room
        self._forgot = forgot
        self._pages: dict[int, _Page] = {}
        self._newest = 0

    def __len__(self) -> int:
        return len(self._pages)

    def of(self, counter: int) -> State:
        """EVICTED, EXPIRED or FORGOTTEN."""
        page = self._pages.get(counter // PAGE)
        return _STATES[page.codes[counter % PAGE]] if page is not None else State.FORGOTTEN

    def set(self, counter: int, state: State) -> None:
        """Remember what became of an operation whose page is there."""
        self._pages[counter // PAGE].codes[counter % PAGE] = _CODES[state]

    def hold(self, counter: int) -> None:
        """Keep its page until it is released as often; counters of new pages come in order."""
        number = counter // PAGE
        page = self._pages.get(number)
        if page is None:
            page = self._pages[number] = _Page()
            self._room.take_anyway(PAGE_BYTES)
            if number > self._newest:
                self._newest = number
                for old in [each for each in self._pages if each <= number - RECENT_PAGES]:
                    self._drop_if_over(old)
        page.held += 1

    def release(self, counter: int) -> None:
        """The contrary of hold."""
        self._release(counter // PAGE, 1)

    def release_all(self, counters: "array[int]") -> None:
        """Release each of these unsigned 64-bit numbers."""
        if not counters:
            return
        numbers = np.frombuffer(counters, np.uint64) // np.uint64(PAGE)
        first = int(numbers.min())
        for number, times in enumerate(np.bincount((numbers - np.uint64(first)).astype(np.int64)), first):
            if times:
                self._release(number, int(times))

    def _release(self, number: int, times: int) -> None:
        self._pages[number].held -= times
        if number <= self._newest - RECENT_PAGES:
            self._drop_if_over(number)

    def _drop_if_over(self, number: int) -> None:
        page = self._pages.get(number)
        if page is None or page.held:
            return
        for code in set(page.codes) - {_CODES[State.FORGOTTEN]}:
            after(_STATES[code], Event.FORGET)
        del self._pages[number]
        self._room.give(PAGE_BYTES)
        self._forgot(number * PAGE, number * PAGE + PAGE - 1)
