"""What an observation says of clients that are wrong on purpose: it counts, compares and tries again by itself."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from types import MappingProxyType

import pytest

from suites.evidence import aiohttp_client, scene
from suites.evidence.aiohttp_client import bounded
from suites.evidence.cases import Case, How, all_cases
from suites.evidence.client import Ask, Need, OnHead, OnPiece, Patience, Session, hold_on_thread
from suites.evidence.got import HANGS, Holds
from suites.evidence.matrix import Row
from suites.evidence.observing import observed
from suites.evidence.standard_client import StandardClient
from suites.evidence.trust import Trust


class Wrong(StandardClient):
    """http.client, and one thing wrong; `calls` counts the requests of all its sessions."""

    name = "wrong"

    def __init__(self) -> None:
        self.calls = count(1)

    @contextmanager
    def session(self, url: str, patience: Patience, trust: Trust) -> Iterator[Session]:  # type: ignore[override]
        """This client is its own session, before a real one."""
        with super().session(url, patience, trust) as inner:
            yield _WrongSession(self, inner)

    def send(self, inner: Session, ask: Ask, on_head: OnHead) -> bytes:
        """What is wrong."""
        return inner.request(ask, on_head)


class _WrongSession:
    def __init__(self, client: Wrong, inner: Session) -> None:
        self.client, self.inner = client, inner

    def request(self, ask: Ask, on_head: OnHead) -> bytes:
        return self.client.send(self.inner, ask, on_head)

    def stream(self, ask: Ask, on_head: OnHead, on_piece: OnPiece) -> None:
        self.inner.stream(ask, on_head, on_piece)

    def hold(self, ask: Ask, until: Callable[[], object]) -> Callable[[], object]:
        return hold_on_thread(self.inner, ask, until)


class SendsTwice(Wrong):
    """It sends every request again, whatever came of it."""

    def send(self, inner: Session, ask: Ask, on_head: OnHead) -> bytes:
        """Both answers are lost but the second."""
        inner.request(ask, lambda _: None)
        return inner.request(ask, on_head)


class SendsNothing(Wrong):
    """It makes answers up."""

    def send(self, inner: Session, ask: Ask, on_head: OnHead) -> bytes:
        """Nothing reaches the router."""
        on_head(200)
        return b"{}"


class GivesTheLastAnswer(Wrong):
    """It is one answer behind."""

    last = b""

    def send(self, inner: Session, ask: Ask, on_head: OnHead) -> bytes:
        """The first caller gets an answer of its own."""
        mine = inner.request(ask, on_head)
        given, self.last = self.last or mine, mine
        return given


class Capricious(Wrong):
    """Every third request raises what no fault has caused."""

    def send(self, inner: Session, ask: Ask, on_head: OnHead) -> bytes:
        """After it was sent."""
        content = inner.request(ask, on_head)
        if next(self.calls) % 4 == 1:
            raise LookupError("a mood")
        return content


class HasNoLimit(Wrong):
    """It opens a connection whenever it has none that is free."""

    cannot: Mapping[Need, str] = MappingProxyType({})

    @contextmanager
    def session(self, url: str, patience: Patience, trust: Trust) -> Iterator[Session]:  # type: ignore[override]
        """Two at once."""
        with (
            StandardClient.session(self, url, patience, trust) as one,
            StandardClient.session(self, url, patience, trust) as other,
        ):
            yield _TwoSessions(self, one, other)


class _TwoSessions(_WrongSession):
    def __init__(self, client: Wrong, inner: Session, held: Session) -> None:
        super().__init__(client, inner)
        self.held = held

    def hold(self, ask: Ask, until: Callable[[], object]) -> Callable[[], object]:
        return hold_on_thread(self.held, ask, until)


def case(fault: str, how: How = How.FIRST) -> Case:
    """That fault, met in that way."""
    return next(one for one in all_cases() if (one.fault.id, one.how) == (fault, how))


def row(client: Wrong, fault: str, how: How = How.FIRST, *, repeats: int = 2) -> Row | str:
    """What comes of observing it so often."""
    (only,) = observed([(client, case(fault, how))], repeats=repeats)
    return only


def test_the_ledger_counts_what_a_client_sends_and_what_runs() -> None:
    """Whatever the client says."""
    twice = row(SendsTwice(), "503-after")
    assert isinstance(twice, Row)
    (seen,) = twice.seen
    assert (seen.sent, seen.ran, seen.got.status) == (2, 2, 200)


def test_an_answer_that_is_another_operations_is_seen() -> None:
    """It looks like a success to the caller of the next operation."""
    behind = row(GivesTheLastAnswer(), "healthy", repeats=1)
    assert isinstance(behind, Row)
    (seen,) = behind.seen
    assert seen.then.holds is Holds.ANOTHERS
    assert seen.harmed
    assert seen.then.succeeded


@pytest.mark.parametrize(
    ("client", "fault", "how", "why"),
    [
        (SendsNothing(), "503-after", How.FIRST, "it did not strike, 4 times"),
        (SendsNothing(), "503-after", How.REUSED, "the exchange before it failed, 4 times"),
        (HasNoLimit(), "pool-wait", How.REUSED, "it did not strike, 4 times"),
        (Capricious(), "healthy", How.FIRST, "saw 2 different things"),
    ],
)
def test_what_proves_nothing_is_no_row(client: Wrong, fault: str, how: How, why: str) -> None:
    """It says why, and of whom."""
    said = row(client, fault, how)
    assert isinstance(said, str)
    assert why in said
    assert fault in said
    assert "wrong" in said


class Hangs(Wrong):
    """Its first request is never over."""

    def send(self, inner: Session, ask: Ask, on_head: OnHead) -> bytes:
        """It is stopped once the answer is there."""
        content = inner.request(ask, on_head)
        if next(self.calls) == 1:
            asyncio.run(bounded(asyncio.sleep(60)))
        return content


def test_a_client_that_gives_nothing_for_ever_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no time-out of its own, and what it has seen before is kept."""
    monkeypatch.setattr(aiohttp_client, "HANG_S", 0.0)
    hung = row(Hangs(), "healthy", repeats=1)
    assert isinstance(hung, Row)
    assert [(seen.got.status, seen.got.error, seen.harmed) for seen in hung.seen] == [(200, (HANGS,), False)]


def test_what_a_client_cannot_is_said_and_not_observed() -> None:
    """With its own reason: it would be asked for what it does not do."""
    said = row(SendsNothing(), "expect-fin")
    assert isinstance(said, Row)
    assert (said.seen, said.cannot) == ((), SendsNothing.cannot[Need.EXPECT])


def test_work_that_does_not_end_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The router still has it when all patience is over."""
    monkeypatch.setattr(scene, "_SETTLING_S", 0.0)
    assert "its work was not over" in str(row(Wrong(), "unread-late"))
