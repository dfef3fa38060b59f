"""A client in Python as a subject: what it returns and raises is the outcome, and what is none is refused in words."""

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.plan import PlannedOperation
from faults.vocabulary import Leaving
from suites.callable_path import is_callable_path, load_callable
from suites.callables import CallableInstance, CallableSubject
from suites.history import Arrival, Kind, Outcome
from suites.leaving import Leave
from suites.run import Promise
from suites.subject import SubjectError
from suites.subject_reader import SubjectFileError

CEILING_MS = 20_000
SHORT_MS = 1
MODULE = """
import asyncio, json
class Refused(Exception): pass
class Worse(Refused): pass
NOT_EXECUTED = (Refused,)
RETRYPROOF = {"promises": "transparent", "upstreams": 2, "read_timeout_ms": 70, "attempts": 3,
              "contract": {"not_accepted": [{"status": 503, "body": "full"}]}, "reach": {"reused": "no pool"}}
forever = asyncio.Event
def answer(request):
    return {"choices": [{"token_ids": request["prompt"], "text": "t"}]}
class Model:
    def __init__(self, data): self.data = data
    def model_dump(self): return self.data
class Unreadable(Model):
    def model_dump(self): return self.data["gone"]
async def returns_dict(request, urls): return answer(request)
async def returns_bytes(request, urls): return json.dumps(answer(request)).encode()
async def returns_text(request, urls): return json.dumps(answer(request))
async def returns_model(request, urls): return Model(answer(request))
async def returns_garbage(request, urls): return b"<html>"
async def returns_none(request, urls): return None
async def returns_unreadable(request, urls): return Unreadable({})
async def raises_refused(request, urls): raise Worse("not sent")
async def raises_other(request, urls): raise OSError("cut")
async def raises_exit(request, urls): raise SystemExit(3)
async def raises_cancelled(request, urls): raise asyncio.CancelledError
async def hangs(request, urls): await asyncio.Event().wait()
async def hangs_on(request, urls):
    while True:
        try: await asyncio.Event().wait()
        except asyncio.CancelledError: pass
async def returns_urls(request, urls): return {"choices": [{"token_ids": [len(urls)], "text": urls[1]}]}
def blocks(request, urls): return answer(request)
async def takes_one(request): return answer(request)
class Keeps:
    RETRYPROOF = {"quiet_ms": 5}
    closed = []
    def __init__(self, urls): self.urls = urls
    async def call(self, request): return answer(request)
    async def close(self): self.closed.append(self.urls)
class ClosesInVain(Keeps):
    async def close(self): raise OSError("still in use")
class Unmade(Keeps):
    def __init__(self, urls): raise OSError("no session")
class LeavesAtOnce(Keeps):
    def __init__(self, urls): raise SystemExit(4)
class LeavesAtLast(Keeps):
    async def close(self): raise SystemExit(5)
class NoCall: pass
class Callable:
    async def __call__(self, request, urls): return answer(request)
instance = Callable()
number = 5
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working folder, with the module in it."""
    (tmp_path / "mine.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    for name in ("mine", "broken", "leaves", "lacks", "odd"):
        sys.modules.pop(name, None)


async def started(name: str) -> CallableInstance:
    return await CallableSubject(loaded=load_callable(f"mine:{name}")).start([("h", 1), ("h", 2)])


async def called(name: str, ceiling_ms: int = CEILING_MS) -> Outcome:
    instance = await started(name)
    try:
        return await instance.call(PlannedOperation(), 7, ceiling_ms)
    finally:
        await instance.stop()


def test_what_the_module_says_is_what_is_known() -> None:
    """In the keys of a subject file."""
    spec = load_callable("mine:hangs").spec
    assert (spec.facts.name, spec.facts.promises, spec.facts.called) == ("mine:hangs", Promise.TRANSPARENT, True)
    assert (spec.upstreams, spec.read_timeout_ms, spec.connect_timeout_ms, spec.facts.attempts) == (2, 70, 300, 3)
    assert set(spec.reach) == {"reused", "streaming"}
    assert spec.facts.contract.not_accepted[0].body == "full"
    assert load_callable("mine:Keeps").spec.facts.promises is Promise.ANSWERING, "its own word stands alone"


@pytest.mark.parametrize(
    "name", ["returns_dict", "returns_bytes", "returns_text", "returns_model", "Keeps", "instance"]
)
async def test_what_is_returned_is_a_success_with_its_first_choice(name: str) -> None:
    outcome = await called(name)
    assert (outcome.kind, outcome.arrival) == (Kind.OK, Arrival.RETURNED)
    assert (outcome.operation, outcome.tokens, outcome.text) == (7, (31_337, 7), "t")


@pytest.mark.parametrize("name", ["returns_garbage", "returns_none"])
async def test_what_is_no_completion_is_a_success_without_a_result(name: str) -> None:
    """The client called it one; the checks will not."""
    outcome = await called(name)
    assert (outcome.kind, outcome.tokens, outcome.text) == (Kind.OK, None, None)


@pytest.mark.parametrize(
    ("name", "kind", "says"),
    [
        ("raises_refused", Kind.FAILED, "Worse: not sent"),
        ("raises_other", Kind.UNKNOWN, "OSError: cut"),
        ("raises_exit", Kind.UNKNOWN, "ExitRaisedError: SystemExit: 3"),
        ("raises_cancelled", Kind.UNKNOWN, "it raised CancelledError"),
    ],
)
async def test_what_is_raised_claims_not_executed_only_where_the_module_says_so(
    name: str, kind: Kind, says: str
) -> None:
    outcome = await called(name)
    assert (outcome.kind, outcome.arrival, outcome.says) == (kind, Arrival.RETURNED, says)


async def test_a_result_that_cannot_be_read_is_the_client_s_fault() -> None:
    """No success, and no bug of ours."""
    outcome = await called("returns_unreadable")
    assert (outcome.kind, outcome.arrival, outcome.tokens) == (Kind.UNKNOWN, Arrival.RETURNED, None)
    assert "a Unreadable, cannot be read: it raised KeyError: 'gone'" in outcome.says


async def test_a_call_that_does_not_end_hangs_and_is_cancelled() -> None:
    instance = await started("hangs")
    outcome = await instance.call(PlannedOperation(), 7, SHORT_MS)
    assert (outcome.kind, outcome.arrival) == (Kind.UNKNOWN, Arrival.HUNG)
    assert await _idle(instance)
    await instance.stop()


async def test_a_call_that_will_not_be_cancelled_hangs_too() -> None:
    outcome = await called("hangs_on", SHORT_MS)
    assert outcome.arrival is Arrival.HUNG


async def _idle(instance: CallableInstance) -> bool:
    deadline = time.monotonic() + CEILING_MS / 1000
    while not await instance.idle():  # its loop is on another thread
        assert time.monotonic() < deadline
    return True


async def test_a_caller_can_leave() -> None:
    """By cancelling its call."""
    instance, leave = await started("hangs"), Leave(how=Leaving.RESET)
    call = asyncio.create_task(instance.call(PlannedOperation(), 7, CEILING_MS, leave))
    leave.told.set()
    outcome = await call
    assert (outcome.arrival, outcome.left) == (Arrival.LEFT, True)
    assert await _idle(instance)
    await instance.stop()


async def test_it_is_told_the_urls_of_all_routers() -> None:
    outcome = await called("returns_urls")
    assert (outcome.tokens, outcome.text) == ((2,), "http://h:2")


async def test_a_class_is_made_for_each_run_and_closed_after_it() -> None:
    """Once, whatever is stopped twice."""
    instance = await started("Keeps")
    assert await instance.idle() is None, "it has a quiet window"
    await instance.stop()
    await instance.stop()
    assert sys.modules["mine"].Keeps.closed == [["http://h:1", "http://h:2"]]
    with pytest.raises(SubjectError, match=r"close\(\) of mine:ClosesInVain failed: OSError: still in use"):
        await (await started("ClosesInVain")).stop()
    with pytest.raises(SubjectError, match=r"mine:Unmade\(\['http://h:1', .*raised OSError: no session"):
        await started("Unmade")


@pytest.mark.parametrize(("name", "says"), [("LeavesAtOnce", "SystemExit: 4"), ("LeavesAtLast", "SystemExit: 5")])
async def test_a_client_that_would_end_the_process_does_not(name: str, says: str) -> None:
    """Nor the loop of all clients, on which the next one is called."""
    with pytest.raises(SubjectError, match=says):
        await called(name)
    assert (await called("returns_dict")).kind is Kind.OK


@pytest.mark.parametrize(
    ("path", "text", "message"),
    [
        ("mine:return_dict", "", r"has no 'return_dict'; nearest: returns_dict.*; expected `async def call"),
        ("mine:blocks", "", r"which is not async; expected .*asyncio\.to_thread"),
        ("mine:takes_one", "", r"cannot be called so \(too many positional arguments\)"),
        ("mine:NoCall", "", "which is not async; expected"),
        ("mine:number", "", "'mine:number' is 5, which is not async"),
        ("nowhere:call", "", "there is no module 'nowhere'; expected one that can be imported in"),
        ("mine.sub:call", "", "there is no module 'mine.sub'"),
        ("odd:call", "RETRYPROOF = {'command': ['x']}", "RETRYPROOF is .*; expected a dict with some of promises"),
        ("odd:call", "RETRYPROOF = {'read_timeout_ms': 0}", "odd:call: read_timeout_ms is 0; expected milliseconds"),
        ("odd:call", "RETRYPROOF = 5", "RETRYPROOF is 5; expected a dict"),
        ("odd:call", "NOT_EXECUTED = ('x',)", "NOT_EXECUTED is .*; expected a tuple of exception classes"),
    ],
)
def test_what_is_no_subject_is_refused(folder: Path, path: str, text: str, message: str) -> None:
    """Exit code 2."""
    (folder / "odd.py").write_text(f"async def call(request, urls): pass\n{text}\n")
    with pytest.raises(SubjectFileError, match=message):
        load_callable(path)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("broken", "1 / 0", r"importing broken raised ZeroDivisionError: division by zero"),
        ("leaves", "import sys; sys.exit(1)", r"importing leaves raised SystemExit: 1"),
        ("lacks", "import nowhere_at_all", "importing lacks raised ModuleNotFoundError"),
    ],
)
def test_a_module_that_cannot_be_imported_could_not_run(folder: Path, name: str, text: str, message: str) -> None:
    """Exit code 4."""
    (folder / f"{name}.py").write_text(text)
    with pytest.raises(SubjectError, match=message):
        load_callable(f"{name}:call")


@pytest.mark.parametrize(
    ("name", "is_one"),
    [("a:b", True), ("a.b:c", True), ("a", False), ("a:", False), (":b", False), ("a:b-c", False), ("a b:c", False)],
)
def test_a_module_and_a_name_are_a_path(name: str, is_one: bool) -> None:
    assert is_callable_path(name) is is_one


def test_json_of_the_usual_request_is_what_it_gets() -> None:
    """As its API takes it."""
    outcome = asyncio.run(called("returns_dict"))
    assert json.dumps(outcome.tokens) == "[31337, 7]"
