"""A script: which store the server has, and the steps that are done to it. Finite, exact and replayable; JSON in and
out, refused by place and value.
"""

import msgspec

from suites.futures.offer import Storage, Store
from suites.futures.steps import (
    Advance,
    AnyStep,
    Ask,
    Beat,
    Calm,
    Cross,
    Disturb,
    Heal,
    Land,
    Leave,
    Open,
    Poll,
    Read,
    Restart,
    Resubmit,
    Submit,
)

SCHEMA = 1
MAX_STEPS = 1_000


class ScriptError(ValueError):
    """A script that cannot be: the message quotes the value and says what was expected."""


class Script(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Steps, in order. max_bytes: how much the server may store (0: as much as it does by itself).

    Raises ScriptError for a step that speaks of what is not there.
    """

    steps: tuple[AnyStep, ...]
    store: Store = Store.MEMORY
    max_bytes: int = 0
    name: str = ""
    schema: int

    def __post_init__(self) -> None:
        if self.schema != SCHEMA:
            raise ScriptError(f"schema is {self.schema!r}; this version reads {SCHEMA}")
        if len(self.steps) > MAX_STEPS:
            raise ScriptError(f"{len(self.steps)} steps; expected at most {MAX_STEPS}")
        if self.max_bytes < 0:
            raise ScriptError(f"max_bytes is {self.max_bytes!r}; expected 1 or more, or 0 for what the server has")
        cast = Cast()
        for place, step in enumerate(self.steps):
            try:
                cast.take(step)
            except ScriptError as error:
                raise ScriptError(f"steps[{place}]: {error}") from None

    @property
    def storage(self) -> Storage:
        """Where its server keeps what it has taken on, and how much."""
        return Storage(store=self.store, max_bytes=self.max_bytes)

    @property
    def alone(self) -> bool:
        """It needs a server that nothing has happened to. Where one loses what it had stored, that it counts from 1
        again is seen only by who had counted from 1; and where room is scarce, no other script may have taken it.
        """
        loses = self.store is Store.MEMORY and any(isinstance(step, Restart) for step in self.steps)
        return loses or self.max_bytes > 0


class Cast:
    """Who is there after so many steps: sessions, operations, and the polls whose callers still wait."""

    def __init__(self) -> None:
        self.steps = 0
        self.sessions = 0
        self.operations = 0
        self.polls: list[int] = []  # the operation of each
        self.waiting: set[int] = set()
        self.held: set[int] = set()
        self.disturbed = False  # the container between the server and its routers, by a step before

    def take(self, step: AnyStep) -> None:
        """One more step. Raises ScriptError where it speaks of what is not there."""
        self.steps += 1
        match step:
            case Open():
                self.sessions += 1
            case Beat(session=session):
                _require(session, self.sessions, "session")
            case Submit(session=session):
                _require(session, self.sessions, "session")
                self.held.add(self.operations)
                self.operations += 1
            case Resubmit(operation=operation):
                _require(operation, self.operations, "operation")
            case Poll(operation=operation):
                _require(operation, self.operations, "operation")
                self.waiting.add(len(self.polls))
                self.polls.append(operation)
            case Land(operation=operation):
                _require(operation, self.operations, "operation")
                self._land(operation)
            case Read(poll=poll) | Leave(poll=poll) | Cross(poll=poll):
                self._end(step, poll)
            case Disturb():
                self._disturb(step)
            case Calm():
                if not self.disturbed:
                    raise ScriptError("nothing is done to its container; expected a `disturb` before that lasts")
                self.disturbed = False
            case Restart():
                self.waiting.clear()
                self.held.clear()
            case Heal():
                self.held.clear()
            case Ask() | Advance():
                pass

    def _disturb(self, step: Disturb) -> None:
        if self.disturbed:
            raise ScriptError(f"{step.how} of a container that is disturbed; expected `calm` before it")
        if step.landing is not None:
            _require(step.landing, self.operations, "operation")
            self._land(step.landing)
        self.disturbed = not step.briefly

    def _end(self, step: Read | Leave | Cross, poll: int) -> None:
        _require(poll, len(self.polls), "poll")
        if poll not in self.waiting:
            raise ScriptError(f"poll {poll!r} is over; expected one whose caller still waits")
        if isinstance(step, Cross):
            self._land(self.polls[poll])
        if not isinstance(step, Read):
            self.waiting.discard(poll)

    def _land(self, operation: int) -> None:
        if operation not in self.held:
            raise ScriptError(f"operation {operation!r} is held no more; expected one that has not landed")
        self.held.discard(operation)


def _require(number: int, count: int, what: str) -> None:
    if not 0 <= number < count:
        there = f"0 to {count - 1}" if count else "there is none yet"
        raise ScriptError(f"{what} {number!r}; expected one that was begun before: {there}")


def ending(cast: Cast) -> tuple[AnyStep, ...]:
    """What comes after the last step of every script: all is let go, and all callers ask for what is theirs."""
    reads = [Read(poll=poll) for poll in sorted(cast.waiting)]
    begun = len(cast.polls)
    asked: list[AnyStep] = []
    for operation in range(cast.operations):
        asked += [Resubmit(operation=operation), Poll(operation=operation), Read(poll=begun + operation)]
    calm = [Calm()] if cast.disturbed else []
    return (*calm, Heal(), *reads, *asked)


def script_of(steps: tuple[AnyStep, ...], *, store: Store = Store.MEMORY, max_bytes: int = 0, name: str = "") -> Script:
    """The script of these steps, in this version's schema. Raises ScriptError."""
    return Script(steps=steps, store=store, max_bytes=max_bytes, name=name, schema=SCHEMA)


_decoder = msgspec.json.Decoder(Script)


def load_script(text: str | bytes) -> Script:
    """The script in that JSON text. Raises ScriptError for all that is no script of this schema."""
    try:
        return _decoder.decode(text)
    except (msgspec.MsgspecError, ScriptError, RecursionError) as error:
        raise ScriptError(f"it is no script ({error}); expected an object with `schema` and `steps`") from None


def dump_script(script: Script) -> str:
    """The script as JSON text, one step a line, ending in a newline. What has its default value is left out."""
    head = [f'"schema": {script.schema}']
    head += [f'"{key}": {_text(value)}' for key, value in _changed(script)]
    steps = ",\n".join(f"  {_text(step)}" for step in script.steps)
    return f'{{{", ".join(head)}, "steps": [\n{steps}\n]}}\n'


def _changed(script: Script) -> list[tuple[str, object]]:
    fields = msgspec.structs.fields(Script)
    values = [(field.name, getattr(script, field.name), field.default) for field in fields]
    return [(name, value) for name, value, default in values if name not in ("schema", "steps") and value != default]


def _text(value: object) -> str:
    return msgspec.json.encode(value).decode()
