"""A plain caller: one request, and its answer on the same connection. It sends nothing again."""

from collections.abc import Sequence

import msgspec

from fake_router.content import result_tokens
from suites.load.connection import Answer, BrokenError
from suites.load.ended import OK, Ended, Told
from suites.load.line import Line
from suites.load.order import Claim
from suites.load.template import Template

_ONE_CHOICE = 0


class _Choice(msgspec.Struct):
    token_ids: list[int] | None = None


class _Completion(msgspec.Struct):
    choices: list[_Choice]


_decoder = msgspec.json.Decoder(_Completion)


class PlainCaller:
    """How each operation of one process is asked for. give_up_s: until its answer is whole."""

    def __init__(self, template: Template, not_executed: Sequence[Claim], give_up_s: float) -> None:
        self._template = template
        self._not_executed = not_executed
        self._give_up_s = give_up_s

    async def begin(self) -> None:
        """It needs nothing beforehand."""

    def close(self) -> None:
        """There is nothing to close."""

    async def operation(self, line: Line, instance: int, number: int) -> Told:
        """One operation, and what its caller may believe of it. Raises NoPortError."""
        del instance
        try:
            answer = await line.ask(self._template.filled({b"number": number}), self._give_up_s)
        except BrokenError as error:
            return Told(ended=Ended.UNKNOWN, why=str(error))
        if answer is None:
            return Told(ended=Ended.NO_ANSWER, why="no answer in time")
        return told(answer, number, self._not_executed)


def told(answer: Answer, number: int, not_executed: Sequence[Claim]) -> Told:
    """What that answer says of the operation of that number."""
    if not 200 <= answer.status < 300:
        return failed(answer, not_executed)
    try:
        tokens = _decoder.decode(answer.body).choices[_ONE_CHOICE].token_ids or []
    except (msgspec.DecodeError, UnicodeDecodeError, IndexError):
        return Told(ended=Ended.GARBAGE, why=f"{answer.status} with no completion")
    return own(tokens, number, f"{answer.status} with a result")


def own(tokens: Sequence[int], number: int, where: str) -> Told:
    """Whether these are the tokens of an execution of that operation."""
    if len(tokens) > 2 and list(tokens) == result_tokens(number, tokens[2], _ONE_CHOICE):
        return OK
    return Told(ended=Ended.GARBAGE, why=f"{where} that is not its operation's")


def failed(answer: Answer, not_executed: Sequence[Claim]) -> Told:
    """What a failure claims."""
    claims = any(answer.status == one.status and one.body.encode() in answer.body for one in not_executed)
    return Told(ended=Ended.NOT_EXECUTED if claims else Ended.UNKNOWN, why=f"status {answer.status}")
