"""The callers of one process: they connect, wait for the word, and then ask for one operation after the other."""

import asyncio
import itertools
import ssl
import struct
import time
from pathlib import Path
from typing import Any, BinaryIO

from suites.load.asked import Callers
from suites.load.ended import MAX_WHYS, Ended, Told
from suites.load.line import Gate, Line, RefusedError
from suites.load.order import RECORDS, Order
from suites.load.plain import PlainCaller
from suites.load.progress import Count, Progress
from suites.load.sdk import SdkCaller
from suites.load.template import Template
from suites.request import Request
from suites.together import together

_RECORD = struct.Struct("<IBHQQ")  # as ended.RECORD
_FLUSH_BYTES = 1 << 16
_OTHER = "something else"
_GAVE_UP = Told(ended=Ended.GIVEN_UP, why="a process of the subject has ended")

AnyCaller = PlainCaller | SdkCaller


class Recording:
    """What becomes of each operation, into a file. Raises OSError where it cannot be written."""

    def __init__(self, folder: Path) -> None:
        self._file: BinaryIO = (folder / RECORDS).open("wb", buffering=0)
        self._unwritten = bytearray()
        self._numbers = {"": 0}

    def add(self, number: int, told: Told, began_ns: int, ended_ns: int) -> None:
        """One operation has ended."""
        self._unwritten += _RECORD.pack(number, told.ended, self._number_of(told.why), began_ns, ended_ns)
        if len(self._unwritten) >= _FLUSH_BYTES:
            self.flush()

    def flush(self) -> None:
        """All of it is in the file."""
        while self._unwritten:
            del self._unwritten[: self._file.write(self._unwritten)]

    def close(self) -> None:
        """Nothing more is recorded; what was not flushed is lost. Safe to call twice."""
        self._file.close()

    @property
    def whys(self) -> list[str]:
        """The words that records count in."""
        return list(self._numbers)[1:]

    def _number_of(self, why: str) -> int:
        if why not in self._numbers and len(self._numbers) >= MAX_WHYS:
            why = _OTHER
        return self._numbers.setdefault(why, len(self._numbers))


class Calling:
    """All slots of an order. `connect`, then `run` once the word was given."""

    def __init__(self, order: Order, recording: Recording, progress: Progress) -> None:
        self._order = order
        self._recording = recording
        self._progress = progress
        tls = ssl.create_default_context(cadata=order.ca or None) if order.tls else None
        self._gates = [Gate(address, order.connecting, progress, tls) for address in order.instances]
        sources = order.sources or [""]
        self._lines = [
            Line(self._gates[order.instance_of(slot)], sources[slot % len(sources)], progress)
            for slot in range(order.slots)
        ]
        self._callers = _callers(order, self._gates, progress)
        self._begun = itertools.count()
        self._until_ns: int | None = None
        self._slots: list[asyncio.Task[Any]] = []
        self._gave_up = False

    async def connect(self) -> None:
        """What all need beforehand, and a connection for each slot that begins at once, as far as the subject takes it.

        Raises NoSessionError and NoPortError.
        """
        if isinstance(self._callers, SdkCaller):
            await self._callers.begin()
        first = [line for slot, line in enumerate(self._lines) if not self._order.begins_after_s(slot)]
        await asyncio.gather(*(self._connected(line) for line in first))

    async def run(self) -> None:
        """Every slot, until nothing is left to be asked for. Raises NoPortError, and OSError for a full disk."""
        if self._order.for_s is not None:
            self._until_ns = time.monotonic_ns() + int(self._order.for_s * 1e9)
        beating = asyncio.create_task(self._callers.stay_alive()) if isinstance(self._callers, SdkCaller) else None
        try:
            await together(self._slot(slot, line) for slot, line in enumerate(self._lines))
        finally:
            if beating is not None:
                beating.cancel()
            self._callers.close()
            self._recording.flush()

    def give_up(self) -> None:
        """What is in flight is waited for no longer, and nothing else is asked for."""
        self._gave_up = True
        for slot in self._slots:
            slot.cancel()

    async def _connected(self, line: Line) -> None:
        try:
            await line.open()
        except RefusedError:
            return  # it is tried again when there is something to ask
        self._progress.add(Count.CONNECTED)

    async def _stair_of(self, slot: int) -> bool:
        """Its stair has come; False where it never will."""
        try:
            await asyncio.sleep(self._order.begins_after_s(slot))  # a stair comes with the clock
        except asyncio.CancelledError:
            if not self._gave_up:
                raise
            return False
        return True

    async def _slot(self, slot: int, line: Line) -> None:
        progress, order = self._progress, self._order
        instance = order.instance_of(slot)
        task = asyncio.current_task()
        assert task is not None
        self._slots.append(task)
        if not await self._stair_of(slot):
            return
        while (nth := self._next()) is not None:
            number, began_ns = order.number(nth), time.monotonic_ns()
            progress.add(Count.BEGUN)
            told = await self._told(line, instance, number)
            self._recording.add(number, told, began_ns, time.monotonic_ns())
            progress.add(Count.DONE)
            if told.ended:
                progress.add(Count.FAILED)
        line.close()

    async def _told(self, line: Line, instance: int, number: int) -> Told:
        try:
            return await self._callers.operation(line, instance, number)
        except asyncio.CancelledError:
            if not self._gave_up:
                raise
            return _GAVE_UP

    def _next(self) -> int | None:
        if self._gave_up:
            return None
        if self._until_ns is not None and time.monotonic_ns() >= self._until_ns:
            return None
        nth = next(self._begun)
        return nth if nth < self._order.operations else None


def _callers(order: Order, gates: list[Gate], progress: Progress) -> AnyCaller:
    match order.callers:
        case Callers.PLAIN:
            request = Request(target=order.target, body=order.body.encode(), headers=order.headers)
            template = Template(request, order.host or gates[0].host)
            return PlainCaller(template, order.not_executed, order.give_up_s)
        case Callers.SDK:
            return SdkCaller(
                gates,
                progress,
                headers=order.headers,
                not_executed=order.not_executed,
                give_up_s=order.give_up_s,
                patience_s=order.patience_s,
                leave_every=order.leave_every,
            )
