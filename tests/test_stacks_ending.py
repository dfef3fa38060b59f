"""However a command with a stack ends: what ended it is said, not what came of cleaning up after it."""

import pytest

from retryproof.exits import CommandError, Exit
from retryproof.sessions import Session, with_subjects
from retryproof.terminal import console
from suites.given import Given
from suites.processes import Supervisor
from suites.stacks.compose_file import load_stack
from suites.stacks.composing import Told
from suites.stacks.errors import StackError
from suites.stacks.stack import StackSubject


class OnAnEngineThatIsGone(StackSubject):
    """Nothing of it can be removed any more."""

    async def prepare(self, step: Told = print, line: Told = print) -> list[str]:
        """It was there."""
        return []

    async def close(self) -> None:
        """It is not."""
        raise StackError("nothing is removed: the engine does not answer any more")


@pytest.fixture(autouse=True)
def _a_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    def named(name: str, supervisor: Supervisor, _given: Given) -> StackSubject:
        return OnAnEngineThatIsGone(load_stack(name), supervisor)

    monkeypatch.setattr("retryproof.sessions.subject_named", named)


def _ended(error: CommandError | None) -> CommandError:
    async def work(_sessions: tuple[Session, ...]) -> None:
        if error is not None:
            raise error

    with pytest.raises(CommandError) as raised:
        with_subjects(["stack:nginx"], work, console=console(quiet=True))
    return raised.value


@pytest.mark.parametrize("code", [Exit.INTERRUPTED, Exit.COULD_NOT_RUN])
def test_what_ended_it_stays_what_is_said(code: Exit) -> None:
    """With its exit code, and where the report is."""
    ended = _ended(CommandError("so it was; 4 of 49 cells are in 'out/report.json'", code))
    assert (str(ended), ended.code) == ("so it was; 4 of 49 cells are in 'out/report.json'", code)


def test_what_cannot_be_removed_is_said_where_nothing_else_went_wrong() -> None:
    """Nobody would know of it."""
    ended = _ended(None)
    assert "nothing is removed" in str(ended)
    assert ended.code is Exit.COULD_NOT_RUN
